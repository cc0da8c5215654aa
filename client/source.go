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

// drawing is the statement for n IDs. The number is part of the text: most drivers send a parameter together with a
// statement that was not described before, and the proxy leaves that to PostgreSQL.
func drawing(n int) string { return strings.Replace(drawSQL, "$1", strconv.Itoa(n), 1) }

// Pgx draws over a pool or a connection of pgx. A pool replaces a connection that was lost; a single connection must be
// nobody else's, and is gone once a draw has timed out.
//
// Do not take the pool over which the program runs its transactions. When each of its connections is in a transaction
// that waits for an ID, no connection is left for the draw. Give a transaction itself to nothing here.
func Pgx(db interface {
	Query(ctx context.Context, sql string, arguments ...any) (pgx.Rows, error)
},
) Source {
	if db == nil {
		return nil // which New refuses
	}
	return func(ctx context.Context, n int) ([]int64, error) {
		// Prepared, it would be PostgreSQL's once for each connection and number, also while that is away.
		rows, err := db.Query(ctx, drawing(n), pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			return nil, err
		}
		return pgx.AppendRows(make([]int64, 0, n), rows, pgx.RowTo[int64])
	}
}

// SQL draws over a *sql.DB or *sql.Conn. As with Pgx, it should not be the *sql.DB of the program's transactions, least
// of all if that has SetMaxOpenConns. The driver may prepare the statement, which PostgreSQL does; the ID database of
// the proxy needs no PostgreSQL for that.
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
