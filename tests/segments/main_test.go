// Package segments proves, on a real PostgreSQL, what the segments of business tags promise: in the database's functions, in proxies,
// and in both at once.
package segments

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/tests/program"
	"pgflurry/tests/server"
)

func TestMain(m *testing.M) {
	code := server.Run(m)
	program.Remove()
	os.Exit(code)
}

// patience bounds every step; a test that needs longer hangs.
const patience = 60 * time.Second

// within is a context that ends when the test does, or hangs.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// run executes a script.
func run(t testing.TB, conn *pgx.Conn, script string) {
	t.Helper()
	if _, err := conn.PgConn().Exec(within(t), script).ReadAll(); err != nil {
		t.Fatalf("%v\nin %s", err, script)
	}
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

// numbers is the one column of a query.
func numbers(t testing.TB, conn *pgx.Conn, query string, args ...any) []int64 {
	t.Helper()
	list, err := draw(within(t), conn, query, args...)
	if err != nil {
		t.Fatalf("%v\nin %s", err, query)
	}
	return list
}

// draw is numbers for goroutines that expect errors.
func draw(ctx context.Context, conn *pgx.Conn, query string, args ...any) ([]int64, error) {
	rows, err := conn.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
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

// tag adds a tag whose next number is 1.
func tag(t testing.TB, url, name string, step int) {
	t.Helper()
	conn := server.Connect(t, url)
	if _, err := conn.Exec(within(t), "INSERT INTO pgflurry.segment (biz_tag, step) VALUES ($1, $2)", name, step); err != nil {
		t.Fatal(err)
	}
}
