package lease

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

//go:embed history.sql
var historySQL string

// Tenure is one acquisition of a worker: who had it, and when.
type Tenure struct {
	Worker                 int
	Kind                   string // proxy or database
	Term                   int64
	Node, Address, Version string // of the holder; empty: not known
	AcquiredAt, RenewedAt  *time.Time
	ReleasedAt             *time.Time // nil: it holds the worker, or has lost it
	ReservedUntil          *int64     // ticks, exclusive: where its IDs end; nil: of a function
}

// History reads who held which worker, the latest first. For each worker it has the present or last holder, and up to
// 100 before it. worker limits the list to one worker; nil: all.
func History(ctx context.Context, conn *pgx.Conn, worker *int) ([]Tenure, error) {
	var tenures []Tenure
	err := reading(ctx, conn, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, historySQL, worker)
		if err != nil {
			return err
		}
		tenures, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (t Tenure, err error) {
			err = row.Scan(&t.Worker, &t.Kind, &t.Term, &t.Node, &t.Address, &t.Version, &t.AcquiredAt, &t.RenewedAt,
				&t.ReleasedAt, &t.ReservedUntil)
			return t, err
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the history of the workers: %w", err)
	}
	return tenures, nil
}
