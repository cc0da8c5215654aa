package driver

import (
	"context"
	"errors"
	"sync"
	"time"

	"pgflurry/bench/trial"
)

// Connect makes clients that connect and leave, again and again. A turn counts connections. A trip lasts from
// connecting until the server has accepted the client. Leaving counts as processor time, but not as part of a trip.
func Connect(s Source, target string, clients int) trial.Turn {
	dial := s.dialer(target)
	return drawFrom(clients, func(context.Context) (client, error) { return &connecting{dial: dial}, nil })
}

// connecting is a client of Connect.
type connecting struct {
	dial func(context.Context) (client, error)
	is   client // nil: not connected
}

func (c *connecting) trip(ctx context.Context) (connections int, err error) {
	c.is, err = c.dial(ctx)
	return 1, err
}

func (c *connecting) rest(ctx context.Context) { c.close(ctx) }

func (c *connecting) close(ctx context.Context) {
	if c.is != nil {
		c.is.close(ctx)
		c.is = nil
	}
}

// openers is how many clients of Stay connect at a time.
const openers = 8

// Stay opens that many connections. Each draws once and stays idle. A turn counts connections, and lasts until all are
// open. When all are idle, weigh returns the memory of the servers.
func Stay(s Source, target string, connections int, weigh func() (int64, error)) trial.Turn {
	dial := s.dialer(target)
	return func(ctx context.Context, _ time.Duration, measure trial.Measure) (trial.Count, error) {
		all := make([]client, connections)
		defer func() {
			for _, c := range all {
				if c != nil {
					c.close(context.WithoutCancel(ctx))
				}
			}
		}()
		return measure(func() (trial.Count, error) {
			began := time.Now()
			if err := open(ctx, all, dial); err != nil {
				return trial.Count{}, err
			}
			count := trial.Count{Operations: int64(connections), Elapsed: time.Since(began)}
			memory, err := weigh()
			count.Memory = &memory
			return count, err
		})
	}
}

// open fills a list with clients that have made a trip.
func open(ctx context.Context, all []client, dial func(context.Context) (client, error)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var opening sync.WaitGroup
	for range openers {
		opening.Go(func() {
			for i := range next {
				var err error
				if all[i], err = dial(ctx); err == nil {
					_, err = all[i].trip(ctx)
				}
				if err != nil {
					cancel(err) // the first error is the cause
				}
			}
		})
	}
	for i := range all {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	opening.Wait()
	return context.Cause(ctx)
}

// Beside is one client that draws as one says, while others draw as many says. A turn counts the IDs of all, and has
// the round trips of the one client.
func Beside(one, many Draw, target string) trial.Turn {
	return func(ctx context.Context, d time.Duration, measure trial.Measure) (trial.Count, error) {
		quick, leave, err := connectAll(ctx, one.Clients, one.dialer(target))
		defer leave()
		if err != nil {
			return trial.Count{}, err
		}
		busy, leaveToo, err := connectAll(ctx, many.Clients, many.dialer(target))
		defer leaveToo()
		if err != nil {
			return trial.Count{}, err
		}
		return measure(func() (count trial.Count, err error) {
			var crowd trial.Count
			var failed error
			var all sync.WaitGroup
			all.Go(func() { crowd, failed = together(ctx, busy, d) })
			count, err = together(ctx, quick, d)
			all.Wait()
			count.Operations += crowd.Operations
			return count, errors.Join(err, failed)
		})
	}
}
