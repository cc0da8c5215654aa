package database

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/server"
)

// numbers returns the only column of a query.
func numbers(t testing.TB, conn *pgx.Conn, query string, args ...any) []int64 {
	t.Helper()
	return server.Values[int64](t, conn, query, args...)
}

// tryNumbers is numbers for goroutines that expect errors.
func tryNumbers(ctx context.Context, conn *pgx.Conn, query string, args ...any) ([]int64, error) {
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
