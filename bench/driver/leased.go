package driver

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"pgflurry/bench/trial"
	"pgflurry/inprocess"
)

// Leased are clients within this process that call one generator, which leases a worker for each turn. target is the
// connection string of the lease database.
func Leased(clients int, pace Pace, target string) trial.Turn {
	return func(ctx context.Context, d time.Duration, measure trial.Measure) (count trial.Count, err error) {
		g, err := inprocess.Open(ctx, inprocess.Settings{
			LeaseDatabase: target, Node: "pgflurry-bench", Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			return trial.Count{}, err
		}
		defer func() { err = errors.Join(err, g.Close(ctx)) }()
		next := func(ctx context.Context) (int, error) {
			_, err := g.Next(ctx)
			return 1, err
		}
		dial := func(context.Context, string) (Call, func(), error) { return next, func() {}, nil }
		return Calls{Dial: dial, Clients: clients, Pace: pace}.Against("")(ctx, d, measure)
	}
}
