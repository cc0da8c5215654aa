package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/fault"
)

// Patience limits every step and every wait for an event. A longer one hangs, on a busy machine too.
const Patience = 2 * time.Minute

// Within returns a context for one step. It ends with the test, or after Patience.
func Within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	t.Cleanup(cancel)
	return ctx
}

// Value returns the only value of a query.
func Value[T any](t testing.TB, conn *pgx.Conn, query string, args ...any) T {
	t.Helper()
	var v T
	if err := conn.QueryRow(Within(t), query, args...).Scan(&v); err != nil {
		t.Fatalf("%v\nin %s", err, query)
	}
	return v
}

// Values returns the only column of a query.
func Values[T any](t testing.TB, conn *pgx.Conn, query string, args ...any) []T {
	t.Helper()
	rows, err := conn.Query(Within(t), query, args...)
	if err != nil {
		t.Fatalf("%v\nin %s", err, query)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%v\nin %s", err, query)
	}
	return list
}

// Do executes statements without results. With arguments it is one statement.
func Do(t testing.TB, conn *pgx.Conn, script string, args ...any) {
	t.Helper()
	var err error
	if len(args) > 0 {
		_, err = conn.Exec(Within(t), script, args...)
	} else {
		_, err = conn.PgConn().Exec(Within(t), script).ReadAll()
	}
	if err != nil {
		t.Fatalf("%v\nin %s", err, script)
	}
}

// Eventually waits until a condition holds, such as one about pg_stat_activity. Each look is a statement of its own, so
// it sees changes of the server and its settings. NULL does not hold.
func Eventually(t testing.TB, conn *pgx.Conn, condition string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const first, last = 2, 25 // milliseconds between two looks, so that a long wait leaves the processor to others
	for pause := first; ; pause = min(2*pause, last) {
		var holds bool
		if err := conn.QueryRow(ctx, "SELECT coalesce("+condition+", false)", args...).Scan(&holds); err != nil {
			t.Fatalf("%v:\n%s", err, condition)
		}
		if holds {
			return
		}
		if _, err := conn.Exec(ctx, fmt.Sprintf("SELECT pg_sleep(0.%03d)", pause)); err != nil {
			t.Fatalf("%v: this has not come about:\n%s", err, condition)
		}
	}
}

// Until waits until what only Go can see holds. look returns what is still missing, or nil.
func Until(t testing.TB, look func() error) {
	t.Helper()
	ctx := Within(t)
	for err := look(); err != nil; err = look() {
		if ctx.Err() != nil {
			t.Fatalf("this has not come about: %v", err)
		}
		Pause(ctx, 10*time.Millisecond)
	}
}

// Sleeps waits until the session of the database with this application_name runs pg_sleep().
func Sleeps(t testing.TB, conn *pgx.Conn, name string) {
	t.Helper()
	Eventually(t, conn,
		"EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = '"+name+
			"' AND wait_event = 'PgSleep')")
}

// Blocked waits until this number of sessions of the database wait for a lock.
func Blocked(t testing.TB, conn *pgx.Conn, sessions int) {
	t.Helper()
	Eventually(t, conn, `(SELECT count(*) = $1 FROM pg_stat_activity
		WHERE datname = current_database() AND wait_event_type = 'Lock')`, sessions)
}

// Refused expects a statement to fail with this SQLSTATE, and returns the error.
func Refused(t testing.TB, conn *pgx.Conn, sqlstate, statement string) *pgconn.PgError {
	t.Helper()
	_, err := conn.PgConn().Exec(Within(t), statement).ReadAll()
	var said *pgconn.PgError
	if !errors.As(err, &said) || said.Code != sqlstate {
		t.Errorf("%s: %v, want SQLSTATE %s", statement, err, sqlstate)
		return &pgconn.PgError{}
	}
	if conn.PgConn().TxStatus() != 'I' {
		Do(t, conn, "ROLLBACK")
	}
	return said
}

// Says expects an error that has all these texts in its message or its hint.
func Says(t testing.TB, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one that says %q", texts)
		return
	}
	for _, text := range texts {
		if all := err.Error() + "\n" + Hint(err); !strings.Contains(all, text) {
			t.Errorf("error does not say %q:\n%s", text, all)
		}
	}
}

// Hint returns the hint of an error.
func Hint(err error) string {
	if advice := fault.HintOf(err); advice != "" {
		return advice
	}
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return said.Hint
	}
	return ""
}

// Role makes a role that may log in, and returns its URL. When the test ends it drops the role with its objects.
func Role(t testing.TB, url, name string) string {
	t.Helper()
	Exec(t, url, "CREATE ROLE "+name+" LOGIN")
	t.Cleanup(func() { Exec(t, url, "DROP OWNED BY "+name+" CASCADE; DROP ROLE "+name) })
	return As(t, url, name, "")
}
