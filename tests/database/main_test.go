// Package database proves on a real PostgreSQL what the functions in the database promise.
//
//	*_test.go           next_snowflake() and its kin, migrations, the guards of the tables, and the other ways to make
//	                    an ID: committed draws differ, bad input fails as documented, EXECUTE is all that a role needs
//	segment_*_test.go   numbers of business tags: in functions, in proxies, and in both at once
package database

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/namespace"
	"pgflurry/migrations"
	"pgflurry/sqlfuncs"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.Main(m) }

// Short names for the steps of all tests here.

func within(t testing.TB) context.Context { t.Helper(); return server.Within(t) }

func hintOf(err error) string { return server.Hint(err) }

func value[T any](t testing.TB, conn *pgx.Conn, query string, args ...any) T {
	t.Helper()
	return server.Value[T](t, conn, query, args...)
}

func values[T any](t testing.TB, conn *pgx.Conn, query string, args ...any) []T {
	t.Helper()
	return server.Values[T](t, conn, query, args...)
}

func run(t testing.TB, conn *pgx.Conn, script string) { t.Helper(); server.Do(t, conn, script) }

func refused(t testing.TB, conn *pgx.Conn, sqlstate, statement string) *pgconn.PgError {
	t.Helper()
	return server.Refused(t, conn, sqlstate, statement)
}

func says(t testing.TB, err error, texts ...string) { t.Helper(); server.Says(t, err, texts...) }

func role(t testing.TB, url, name string) string { t.Helper(); return server.Role(t, url, name) }

// up migrates, and fails the test on an error.
func up(t testing.TB, url string, s migrations.Settings) {
	t.Helper()
	if err := migrations.Up(within(t), url, s); err != nil {
		t.Fatalf("up: %v (hint: %s)", err, hintOf(err))
	}
}

// down removes everything. It returns the refusal if there is one.
func down(t testing.TB, url string) error {
	t.Helper()
	_, err := migrations.Down(within(t), url, false)
	return err
}

// row reads the namespace row of a database.
func row(t testing.TB, url string) namespace.Namespace {
	t.Helper()
	n, err := namespace.Read(within(t), server.Connect(t, url))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// allNames asks for short names in public.
var allNames = migrations.Settings{Functions: sqlfuncs.All}

// withAllNames makes a database that has a short name in public for every function.
func withAllNames(t testing.TB) string {
	t.Helper()
	return server.MigratedWith(t, allNames)
}
