package server

import (
	_ "embed"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// ShortWindows sets windows, skew and quarantine of a namespace so short that a test sees them end.
func ShortWindows(t testing.TB, conn *pgx.Conn) {
	t.Helper()
	Do(t, conn, "UPDATE pgflurry.namespace SET max_window = '1 s', skew = '100 ms', quarantine = '1.2 s'")
}

// StepClock steps the clock of leases by moving the epoch the other way. The function does not notice, because its text
// contains the epoch.
func StepClock(t testing.TB, conn *pgx.Conn, by time.Duration) {
	t.Helper()
	Do(t, conn, "ALTER TABLE pgflurry.namespace DISABLE TRIGGER guard_namespace")
	Do(t, conn, "UPDATE pgflurry.namespace SET epoch = epoch - make_interval(secs => $1)", by.Seconds())
	Do(t, conn, "ALTER TABLE pgflurry.namespace ENABLE ALWAYS TRIGGER guard_namespace")
}

//go:embed function_clock.sql
var functionClockSQL string

// FunctionClock sets the clock of a database's functions. ahead is a SQL expression of a text that is an interval.
func FunctionClock(t testing.TB, url, ahead string) {
	t.Helper()
	Exec(t, url, strings.Replace(functionClockSQL, "$step$$1$step$", "$step$"+ahead+"$step$", 1))
}

// hostile.sql replaces the operators, functions and types that our SQL uses. It works in sessions that search schema
// hostile first.
//
//go:embed hostile.sql
var hostileSQL string

// Hostile makes schema hostile in a database. It returns search_paths: some find that schema first, one finds nothing
// at all.
func Hostile(t testing.TB, conn *pgx.Conn) (paths []string) {
	t.Helper()
	Do(t, conn, hostileSQL)
	return []string{"hostile, pg_catalog, public", "hostile, pg_temp, pg_catalog", "''"}
}
