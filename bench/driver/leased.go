package driver

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"pgflurry/bench/trial"
	"pgflurry/inprocess"
)

// LeasedDraw is clients within this process that call one generator, which leases a worker for each turn. A trip is a
// call.
type LeasedDraw struct{ Clients int }

// From makes a turn of the draw. target is the connection string of the lease database.
func (d LeasedDraw) From(target string) trial.Turn {
	return func(ctx context.Context, duration time.Duration, measure trial.Measure) (count trial.Count, err error) {
		g, err := inprocess.Open(ctx, inprocess.Settings{
			LeaseDatabase: target, Node: "pgflurry-bench", Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			return trial.Count{}, err
		}
		defer func() { err = errors.Join(err, g.Close(ctx)) }()
		dial := func(context.Context) (client, error) { return leasedClient{g}, nil }
		return drawFrom(d.Clients, dial)(ctx, duration, measure)
	}
}

type leasedClient struct{ generator *inprocess.Generator }

func (c leasedClient) trip(ctx context.Context) (ids int, err error) {
	_, err = c.generator.Next(ctx)
	return 1, err
}

func (c leasedClient) close(context.Context) {}
