package client

import (
	"context"
	"database/sql"
	_ "embed"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Source draws n new IDs, 1 to MaxDraw, over a connection. It returns when ctx ends. A Pool calls it from one goroutine
// at a time and keeps the slice.
type Source func(ctx context.Context, n int) ([]int64, error)

//go:embed draw.sql
var drawSQL string

// drawing returns the statement for n IDs, with the number in its text. With a parameter most drivers would send a form
// that the proxy does not answer and forwards to PostgreSQL.
func drawing(n int) string { return strings.Replace(drawSQL, "$1", strconv.Itoa(n), 1) }

// Pgx draws over a pool or a connection of pgx. A pool replaces a connection that was lost. A single connection must
// not be shared, and it is gone after a draw has timed out.
//
// Do not pass the pool over which the program runs its transactions. If each of its connections is in a transaction
// that waits for an ID, no connection is left for the draw. And never pass a transaction.
func Pgx(db interface {
	Query(ctx context.Context, sql string, arguments ...any) (pgx.Rows, error)
},
) Source {
	if db == nil {
		return nil // which New refuses
	}
	return func(ctx context.Context, n int) ([]int64, error) {
		// A prepared statement would need PostgreSQL once for each connection and number, even while it is away.
		rows, err := db.Query(ctx, drawing(n), pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			return nil, err
		}
		return pgx.AppendRows(make([]int64, 0, n), rows, pgx.RowTo[int64])
	}
}

// SQL draws over a *sql.DB or *sql.Conn. As with Pgx, do not pass the *sql.DB of the program's transactions, least of
// all if it has SetMaxOpenConns. If the driver prepares the statement, PostgreSQL must be there. The ID database of the
// proxy prepares it without PostgreSQL.
func SQL(db interface {
	QueryContext(ctx context.Context, query string, arguments ...any) (*sql.Rows, error)
},
) Source {
	if db == nil {
		return nil // which New refuses
	}
	return func(ctx context.Context, n int) ([]int64, error) {
		rows, err := db.QueryContext(ctx, drawing(n))
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		ids := make([]int64, 0, n)
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				return nil, err
			}
			ids = append(ids, id)
		}
		return ids, rows.Err()
	}
}
