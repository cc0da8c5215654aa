// Package sql_test proves, on a real PostgreSQL, what migrations and sqlfuncs promise: the functions in the database, the
// tables' guards, and the ways in and out.
package sql_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/migrations"
	"pgflurry/namespace"
	"pgflurry/tests/program"
	"pgflurry/tests/server"
)

func TestMain(m *testing.M) {
	code := server.Run(m)
	program.Remove()
	os.Exit(code)
}

// patience bounds every step against the database; a test that needs longer hangs.
const patience = 30 * time.Second

// within is a context that ends when the test does, or hangs.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// up migrates and fails the test on an error.
func up(t testing.TB, url string, s migrations.Settings) {
	t.Helper()
	if err := migrations.Up(within(t), url, s); err != nil {
		t.Fatalf("up: %v (hint: %s)", err, hint(err))
	}
}

// down removes everything, and returns the refusal if there is one.
func down(t testing.TB, url string) error {
	t.Helper()
	_, err := migrations.Down(within(t), url)
	return err
}

// hint is what an error says should be done.
func hint(err error) string {
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		return hinted.Hint()
	}
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return said.Hint
	}
	return ""
}

// value is the one value of a query.
func value[T any](t testing.TB, conn *pgx.Conn, query string, args ...any) T {
	t.Helper()
	var v T
	if err := conn.QueryRow(within(t), query, args...).Scan(&v); err != nil {
		t.Fatalf("%v\nin %s", err, query)
	}
	return v
}

// values is the one column of a query.
func values[T any](t testing.TB, conn *pgx.Conn, query string, args ...any) []T {
	t.Helper()
	rows, err := conn.Query(within(t), query, args...)
	if err != nil {
		t.Fatalf("%v\nin %s", err, query)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%v\nin %s", err, query)
	}
	return list
}

// run executes statements without results.
func run(t testing.TB, conn *pgx.Conn, script string) {
	t.Helper()
	if _, err := conn.PgConn().Exec(within(t), script).ReadAll(); err != nil {
		t.Fatalf("%v\nin %s", err, script)
	}
}

// refused expects a statement to fail with this SQLSTATE, and returns the error.
func refused(t testing.TB, conn *pgx.Conn, sqlstate, statement string) *pgconn.PgError {
	t.Helper()
	_, err := conn.PgConn().Exec(within(t), statement).ReadAll()
	var said *pgconn.PgError
	if !errors.As(err, &said) || said.Code != sqlstate {
		t.Errorf("%s: %v, want SQLSTATE %s", statement, err, sqlstate)
		return &pgconn.PgError{}
	}
	if conn.PgConn().TxStatus() != 'I' {
		run(t, conn, "ROLLBACK")
	}
	return said
}

// says expects an error with all these texts in its message or its hint.
func says(t testing.TB, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one that says %q", texts)
		return
	}
	for _, text := range texts {
		if all := err.Error() + "\n" + hint(err); !strings.Contains(all, text) {
			t.Errorf("error does not say %q:\n%s", text, all)
		}
	}
}

// row reads the namespace of a database.
func row(t testing.TB, url string) namespace.Namespace {
	t.Helper()
	n, err := namespace.Read(within(t), server.Connect(t, url))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// role makes a role that may log in and drops it with its objects when the test ends.
func role(t testing.TB, url, name string) string {
	t.Helper()
	server.Exec(t, url, "CREATE ROLE "+name+" LOGIN")
	t.Cleanup(func() { server.Exec(t, url, "DROP OWNED BY "+name+" CASCADE; DROP ROLE "+name) })
	return server.As(t, url, name, "")
}
