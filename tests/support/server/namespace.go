package server

import (
	_ "embed"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// ShortWindows makes windows, skew and quarantine of a namespace so short that a test sees them end.
func ShortWindows(t testing.TB, conn *pgx.Conn) {
	t.Helper()
	Do(t, conn, "UPDATE pgflurry.namespace SET max_window = '1 s', skew = '100 ms', quarantine = '1.2 s'")
}

// StepClock sets the clock that leases go by, in ticks, by moving the epoch the other way. The function, which has the
// epoch in its text, does not notice.
func StepClock(t testing.TB, conn *pgx.Conn, by time.Duration) {
	t.Helper()
	Do(t, conn, "ALTER TABLE pgflurry.namespace DISABLE TRIGGER guard_namespace")
	Do(t, conn, "UPDATE pgflurry.namespace SET epoch = epoch - make_interval(secs => $1)", by.Seconds())
	Do(t, conn, "ALTER TABLE pgflurry.namespace ENABLE ALWAYS TRIGGER guard_namespace")
}

//go:embed function_clock.sql
var functionClockSQL string

// FunctionClock sets the clock that the functions of a database go by.
// ahead is an expression of text that is an interval.
func FunctionClock(t testing.TB, url, ahead string) {
	t.Helper()
	Exec(t, url, strings.Replace(functionClockSQL, "$step$$1$step$", "$step$"+ahead+"$step$", 1))
}

// hostile.sql replaces the operators, functions and types that ours use, in sessions that search schema hostile first.
//
//go:embed hostile.sql
var hostileSQL string

// Hostile makes schema hostile in a database, and returns search_paths with which a session finds it first, or nothing
// at all.
func Hostile(t testing.TB, conn *pgx.Conn) (paths []string) {
	t.Helper()
	Do(t, conn, hostileSQL)
	return []string{"hostile, pg_catalog, public", "hostile, pg_temp, pg_catalog", "''"}
}
