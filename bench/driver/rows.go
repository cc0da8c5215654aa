package driver

import (
	"bytes"
	"context"
	_ "embed" // the SQL
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/bench/trial"
)

// Rows moves a table of Total rows with pgx, each with three columns and about 70 bytes. pgbench cannot do that: it
// keeps the whole result in memory, and it has no COPY FROM.
type Rows struct {
	text []byte // the table in COPY's text format
}

// Total is the number of rows.
const Total = 1_000_000

var (
	//go:embed sql/setup_rows.sql
	setupRowsSQL string
	//go:embed sql/rows_out.sql
	rowsOutSQL string
	//go:embed sql/rows_text.sql
	rowsTextSQL string
	//go:embed sql/truncate.sql
	truncateSQL string
	//go:embed sql/copy_in.sql
	copyInSQL string
)

// NewRows creates the tables bench_rows and bench_copied in the database, and replaces those that exist.
func NewRows(ctx context.Context, database string) (*Rows, error) {
	conn, err := pgconn.Connect(ctx, database)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, setupRowsSQL).ReadAll(); err != nil {
		return nil, fmt.Errorf("the tables of the benchmark cannot be made: %w", err)
	}
	var text bytes.Buffer
	if _, err := conn.CopyTo(ctx, &text, rowsTextSQL); err != nil {
		return nil, fmt.Errorf("the rows of the benchmark cannot be read: %w", err)
	}
	return &Rows{text: text.Bytes()}, nil
}

// Out reads the whole table by a SELECT, in text format, without looking at values.
func (r *Rows) Out(target string) trial.Turn {
	return repeated(target, nothing, func(ctx context.Context, conn *pgconn.PgConn) (time.Duration, error) {
		began := time.Now()
		result := conn.Exec(ctx, rowsOutSQL)
		rows := 0
		for result.NextResult() {
			for reader := result.ResultReader(); reader.NextRow(); {
				rows++
			}
		}
		err := result.Close()
		if err == nil && rows != Total {
			err = fmt.Errorf("%d rows came; expected %d", rows, Total)
		}
		return time.Since(began), err
	})
}

// In copies the whole table into an empty, unlogged one.
func (r *Rows) In(target string) trial.Turn {
	empty := func(ctx context.Context, conn *pgconn.PgConn) error {
		_, err := conn.Exec(ctx, truncateSQL).ReadAll()
		return err
	}
	return repeated(target, empty, func(ctx context.Context, conn *pgconn.PgConn) (time.Duration, error) {
		began := time.Now()
		tag, err := conn.CopyFrom(ctx, bytes.NewReader(r.text), copyInSQL)
		if err == nil && tag.RowsAffected() != Total {
			err = fmt.Errorf("%d rows arrived; expected %d", tag.RowsAffected(), Total)
		}
		return time.Since(began), err
	})
}

// nothing is the preparation of a move that needs none.
func nothing(context.Context, *pgconn.PgConn) error { return nil }

// repeated connects, and moves the table again and again until d is over, at least once. Only the moves count, not what
// comes before each.
func repeated(target string, before func(context.Context, *pgconn.PgConn) error,
	move func(context.Context, *pgconn.PgConn) (time.Duration, error),
) trial.Turn {
	return func(ctx context.Context, d time.Duration, measure trial.Measure) (trial.Count, error) {
		conn, err := pgconn.Connect(ctx, target)
		if err != nil {
			return trial.Count{}, err
		}
		defer conn.Close(context.WithoutCancel(ctx))
		count := trial.Count{Spent: make(map[string]time.Duration)}
		for until := time.Now().Add(d); count.Operations == 0 || time.Now().Before(until); {
			if err := before(ctx, conn); err != nil {
				return trial.Count{}, err
			}
			moved, err := measure(func() (trial.Count, error) {
				took, err := move(ctx, conn)
				return trial.Count{Operations: Total, Elapsed: took}, err
			})
			if err != nil {
				return trial.Count{}, err
			}
			count.Operations += moved.Operations
			count.Elapsed += moved.Elapsed
			for role, spent := range moved.Spent {
				count.Spent[role] += spent
			}
		}
		return count, nil
	}
}
