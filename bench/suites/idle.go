package suites

import (
	"context"
	_ "embed" // the SQL
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/bench/trial"
)

// often is the time between two questions whether something was written. It is far shorter than that between renewals.
const often = 10 * time.Millisecond

//go:embed sql/writes.sql
var writesSQL string

// writes counts what a server has written so far: transactions, and bytes of its log.
type writes struct{ transactions, log int64 }

// writesOf counts transactions that write, in the whole server. It counts from one of them to another that is at least
// d later. Asking writes nothing. Proxies with clients write as rarely as idle ones, so a further proxy adds its own
// writes.
func writesOf(server string) trial.Turn {
	return func(ctx context.Context, d time.Duration, measure trial.Measure) (trial.Count, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, d+answerPatience,
			errors.New("an idle proxy did not renew its lease"))
		defer cancel()
		conn, err := pgx.Connect(ctx, server)
		if err != nil {
			return trial.Count{}, err
		}
		defer conn.Close(context.WithoutCancel(ctx))
		began, from, err := nextWrite(ctx, conn)
		if err != nil {
			return trial.Count{}, err
		}
		return measure(func() (trial.Count, error) {
			for {
				at, to, err := nextWrite(ctx, conn)
				if err != nil {
					return trial.Count{}, err
				}
				if passed := at.Sub(began); passed >= d {
					log := to.log - from.log
					return trial.Count{Operations: to.transactions - from.transactions, Elapsed: passed, WAL: &log}, nil
				}
			}
		})
	}
}

// nextWrite waits until another transaction has written, and returns the count.
func nextWrite(ctx context.Context, conn *pgx.Conn) (at time.Time, now writes, err error) {
	var before writes
	if err := conn.QueryRow(ctx, writesSQL).Scan(&before.transactions, &before.log); err != nil {
		return at, now, err
	}
	again := time.NewTicker(often)
	defer again.Stop()
	for {
		select {
		case <-again.C:
		case <-ctx.Done():
			return at, now, context.Cause(ctx)
		}
		err = conn.QueryRow(ctx, writesSQL).Scan(&now.transactions, &now.log)
		if at = time.Now(); err != nil || now.transactions > before.transactions {
			return at, now, err
		}
	}
}
