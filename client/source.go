package client

import (
	"context"
	_ "embed"
	"strconv"
	"strings"
)

// Source draws n new IDs, 1 to MaxDraw, over a connection. It returns when ctx ends. A Pool calls it from one goroutine
// at a time and keeps the slice.
type Source func(ctx context.Context, n int) ([]int64, error)

//go:embed draw.sql
var drawSQL string

// drawing is the statement for n IDs. The number is part of the text: most drivers send a parameter together with a
// statement that was not described before, and the proxy leaves that to PostgreSQL.
func drawing(n int) string { return strings.Replace(drawSQL, "$1", strconv.Itoa(n), 1) }

// pgxRows is what a draw reads of a pgx.Rows.
type pgxRows interface {
	scannable
	Close()
}

// Pgx draws over a pool or a connection of pgx, which the compiler finds out by itself: Pgx(pool). A pool replaces a
// connection that was lost; a single connection must be nobody else's, and is gone once a draw has timed out.
//
// Do not take the pool over which the program runs its transactions. When each of its connections is in a transaction
// that waits for an ID, no connection is left for the draw. Give a transaction itself to nothing here.
func Pgx[Rows pgxRows](db interface {
	Query(ctx context.Context, sql string, arguments ...any) (Rows, error)
},
) Source {
	return func(ctx context.Context, n int) ([]int64, error) {
		rows, err := db.Query(ctx, drawing(n))
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		return scan(rows, n)
	}
}

// sqlRows is what a draw reads of a *sql.Rows.
type sqlRows interface {
	scannable
	Close() error
}

// SQL draws over a *sql.DB or *sql.Conn. As with Pgx, it should not be the *sql.DB of the program's transactions, least
// of all if that has SetMaxOpenConns.
func SQL[Rows sqlRows](db interface {
	QueryContext(ctx context.Context, query string, arguments ...any) (Rows, error)
},
) Source {
	return func(ctx context.Context, n int) ([]int64, error) {
		rows, err := db.QueryContext(ctx, drawing(n))
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		return scan(rows, n)
	}
}

// scannable are rows of whichever package.
type scannable interface {
	Next() bool
	Scan(into ...any) error
	Err() error
}

func scan(rows scannable, n int) ([]int64, error) {
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
