package suites

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/bench/servers"
	"pgflurry/bench/trial"
)

const (
	// answerPatience is how long a new proxy may take to get a worker.
	answerPatience = 30 * time.Second
	// givenPatience is the same for a given proxy: its user should know within a second.
	givenPatience = 500 * time.Millisecond
)

// errForwarded is the error if IDs come through the proxy, but from the function in the database.
var errForwarded = errors.New("the proxy forwarded instead of answering from memory; " +
	"its log says why it has no worker, and pgflurry workers who has which")

// Answered rejects a turn if the proxy did not answer from memory. An ID that it draws through the proxy before or
// after the turn must not be the function's. On private servers the function must not give any ID during the turn
// either.
func Answered(s servers.Servers, turn trial.Turn) trial.Turn {
	return func(ctx context.Context, d time.Duration, measure trial.Measure) (trial.Count, error) {
		c, err := newForwardingCheck(ctx, s)
		if err != nil {
			return trial.Count{}, err
		}
		defer c.close(context.WithoutCancel(ctx))
		return turn(ctx, d, func(work func() (trial.Count, error)) (trial.Count, error) {
			before, err := c.answers(ctx)
			if err != nil {
				return trial.Count{}, err
			}
			count, err := measure(work)
			if err != nil {
				return count, err
			}
			after, err := c.answers(ctx)
			if err == nil && after != before {
				err = fmt.Errorf("while the proxy was measured, the function in the database gave IDs: %w",
					errForwarded)
			}
			return count, err
		})
	}
}

// awaitAnswers returns when the proxy answers from memory. Without a worker, the proxy forwards.
func awaitAnswers(ctx context.Context, s servers.Servers) error {
	c, err := newForwardingCheck(ctx, s)
	if err != nil {
		return err
	}
	defer c.close(context.WithoutCancel(ctx))
	patience := givenPatience
	if c.alone {
		patience = answerPatience
	}
	over := time.NewTimer(patience)
	defer over.Stop()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		if _, err := c.answers(ctx); !errors.Is(err, errForwarded) {
			return err
		}
		select {
		case <-again.C:
		case <-over.C:
			return errForwarded
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// forwardingCheck finds out which worker answers.
type forwardingCheck struct {
	direct, proxy *pgx.Conn
	function      int64 // worker of the function in the database
	alone         bool  // nobody else uses the servers
}

func newForwardingCheck(ctx context.Context, s servers.Servers) (c forwardingCheck, err error) {
	defer func() {
		if err != nil {
			c.close(context.WithoutCancel(ctx))
		}
	}()
	c.alone = s.Postgres.PID != 0
	if c.direct, err = pgx.Connect(ctx, s.Postgres.URL); err != nil {
		return c, err
	}
	if c.proxy, err = pgx.Connect(ctx, s.Proxy.URL); err != nil {
		return c, err
	}
	if err = c.direct.QueryRow(ctx, statement("function_worker")).Scan(&c.function); err != nil {
		err = fmt.Errorf("the function in the database gives no ID: %w; PostgreSQL needs the schema (pgflurry "+
			"migrate up)", err)
	}
	return c, err
}

func (c forwardingCheck) close(ctx context.Context) {
	for _, conn := range []*pgx.Conn{c.direct, c.proxy} {
		if conn != nil {
			_ = conn.Close(ctx)
		}
	}
}

// answers draws an ID through the proxy and fails if it is the function's. It returns the position of the function's
// sequence, or 0 if others draw, too.
func (c forwardingCheck) answers(ctx context.Context) (lane int64, err error) {
	var id, worker int64
	if err := c.proxy.QueryRow(ctx, "SELECT next_snowflake()", pgx.QueryExecModeSimpleProtocol).Scan(&id); err != nil {
		return 0, err
	}
	if err := c.direct.QueryRow(ctx, statement("worker_of"), id).Scan(&worker); err != nil {
		return 0, err
	}
	if worker == c.function {
		return 0, fmt.Errorf("an ID that was drawn through the proxy has worker %d, the function's: %w",
			worker, errForwarded)
	}
	if c.alone {
		err = c.direct.QueryRow(ctx, statement("lane")).Scan(&lane)
	}
	return lane, err
}
