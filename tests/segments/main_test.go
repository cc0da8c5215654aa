// Package segments proves on a real PostgreSQL what the segments of business tags promise: in the database's functions,
// in proxies, and in both at once.
package segments

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/migrations"
	"pgflurry/sqlfuncs"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { program.Main(m) }

// allNames asks for short names in public.
var allNames = migrations.Settings{Functions: sqlfuncs.All}

// numbers returns the only column of a query.
func numbers(t testing.TB, conn *pgx.Conn, query string, args ...any) []int64 {
	t.Helper()
	return server.Values[int64](t, conn, query, args...)
}

// draw is numbers for goroutines that expect errors.
func draw(ctx context.Context, conn *pgx.Conn, query string, args ...any) ([]int64, error) {
	rows, err := conn.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// tag adds a tag. Its next number is 1.
func tag(t testing.TB, url, name string, step int) {
	t.Helper()
	conn := server.Connect(t, url)
	_, err := conn.Exec(server.Within(t), "INSERT INTO pgflurry.segment (biz_tag, step) VALUES ($1, $2)", name, step)
	if err != nil {
		t.Fatal(err)
	}
}
