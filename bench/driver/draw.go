package driver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/bench/trial"
)

// Mode is how a statement is sent.
type Mode int

const (
	Simple    Mode = iota // one Query a round trip
	Prepared              // Bind, Describe, Execute, Sync of a named statement
	Pipelined             // PipelineLength of them with one Sync
)

// PipelineLength is how many statements, or commands of Redis, are in a pipelined round trip.
const PipelineLength = 50

// Draw is clients that repeat one statement, each on a connection of its own.
type Draw struct {
	SQL     string
	Mode    Mode
	Rows    int // that one execution must return
	Clients int
}

// prepared is the name of the prepared statement.
const prepared = "draw"

// Percentiles of round trips that are kept.
var percentiles = map[string]float64{"p50": 50, "p99": 99, "p99.9": 99.9}

const (
	shortest = 1              // microsecond
	longest  = 60 * 1_000_000 // microseconds
	digits   = 3
)

// client is one connection that draws.
type client interface {
	// trip makes one round trip, and returns the number of IDs.
	trip(ctx context.Context) (ids int, err error)
	close(ctx context.Context)
}

// resting is a client that has work to do between trips, which does not count.
type resting interface{ rest(ctx context.Context) }

// Source is where clients draw from: a Draw or a RedisDraw.
type Source interface {
	// dialer makes clients of a server.
	dialer(target string) func(context.Context) (client, error)
}

// drawer is a client and its results.
type drawer struct {
	client client
	trips  *hdrhistogram.Histogram // microseconds
	took   time.Duration           // of all trips
	ids    int64
}

// From makes a turn of the draw. target is a connection string.
func (d Draw) From(target string) trial.Turn { return drawFrom(d.Clients, d.dialer(target)) }

func (d Draw) dialer(target string) func(context.Context) (client, error) {
	return func(ctx context.Context) (client, error) {
		conn, err := pgconn.Connect(ctx, target)
		if err != nil {
			return nil, err
		}
		if d.Mode != Simple {
			if _, err := conn.Prepare(ctx, prepared, d.SQL, nil); err != nil {
				return nil, errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
			}
		}
		return &postgresClient{Draw: d, conn: conn}, nil
	}
}

// postgresClient is one connection of a Draw.
type postgresClient struct {
	Draw
	conn *pgconn.PgConn
}

func (c *postgresClient) close(ctx context.Context) { _ = c.conn.Close(ctx) }

// drawFrom connects the clients. Each draws once, and then all draw together for a time. Only that time counts.
func drawFrom(clients int, dial func(context.Context) (client, error)) trial.Turn {
	return func(ctx context.Context, duration time.Duration, measure trial.Measure) (trial.Count, error) {
		drawers, leave, err := connectAll(ctx, clients, dial)
		defer leave()
		if err != nil {
			return trial.Count{}, err
		}
		return measure(func() (trial.Count, error) { return together(ctx, drawers, duration) })
	}
}

// connectAll connects clients, and each makes one trip. The caller has to call leave, even after an error.
func connectAll(
	ctx context.Context, clients int, dial func(context.Context) (client, error),
) (drawers []*drawer, leave func(), err error) {
	leave = func() {
		for _, w := range drawers {
			w.client.close(context.WithoutCancel(ctx))
		}
	}
	for range clients {
		c, err := dial(ctx)
		if err != nil {
			return drawers, leave, err
		}
		drawers = append(drawers, &drawer{client: c, trips: hdrhistogram.New(shortest, longest, digits)})
		if _, err := c.trip(ctx); err != nil {
			return drawers, leave, err
		}
		if r, is := c.(resting); is {
			r.rest(ctx)
		}
	}
	return drawers, leave, nil
}

// together lets all clients draw until the time is over.
func together(ctx context.Context, drawers []*drawer, duration time.Duration) (trial.Count, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	began := time.Now()
	until := began.Add(duration)
	for _, w := range drawers {
		all.Go(func() {
			if err := w.drawUntil(ctx, until); err != nil {
				cancel(err) // the first error is the cause
			}
		})
	}
	all.Wait()
	count := trial.Count{Elapsed: time.Since(began), Latency: make(map[string]time.Duration)}
	if ctx.Err() != nil {
		return trial.Count{}, context.Cause(ctx)
	}
	trips, took := hdrhistogram.New(shortest, longest, digits), time.Duration(0)
	for _, w := range drawers {
		trips.Merge(w.trips)
		took += w.took
		count.Operations += w.ids
	}
	for name, p := range percentiles {
		count.Latency[name] = time.Duration(trips.ValueAtPercentile(p)) * time.Microsecond
	}
	if n := trips.TotalCount(); n > 0 {
		count.Latency[trial.Mean] = took / time.Duration(n)
		count.Latency[trial.Max] = time.Duration(trips.Max()) * time.Microsecond
	}
	return count, nil
}

func (w *drawer) drawUntil(ctx context.Context, until time.Time) error {
	between, rests := w.client.(resting)
	for at := time.Now(); at.Before(until); {
		ids, err := w.client.trip(ctx)
		if err != nil {
			return err
		}
		now := time.Now()
		if err := w.trips.RecordValue(min(longest, max(shortest, now.Sub(at).Microseconds()))); err != nil {
			return err
		}
		w.took += now.Sub(at)
		w.ids += int64(ids)
		if at = now; rests {
			between.rest(ctx)
			at = time.Now()
		}
	}
	return nil
}

func (c *postgresClient) trip(ctx context.Context) (rows int, err error) {
	want := c.Rows
	switch c.Mode {
	case Simple:
		result := c.conn.Exec(ctx, c.SQL)
		for result.NextResult() && err == nil {
			var n int
			n, err = rowsOf(result.ResultReader())
			rows += n
		}
		if e := result.Close(); err == nil {
			err = e
		}
	case Prepared:
		rows, err = rowsOf(c.conn.ExecPrepared(ctx, prepared, nil, nil, binaryResult))
	case Pipelined:
		want *= PipelineLength
		rows, err = pipelined(ctx, c.conn)
	}
	if err == nil && rows != want {
		err = fmt.Errorf("%w: %d came, expected %d", errRows, rows, want)
	}
	return rows, err
}

var binaryResult = []int16{1}

func pipelined(ctx context.Context, conn *pgconn.PgConn) (rows int, err error) {
	p := conn.StartPipeline(ctx)
	for range PipelineLength {
		p.SendQueryPrepared(prepared, nil, nil, binaryResult)
	}
	if err := p.Sync(); err != nil {
		return 0, err
	}
	for range PipelineLength {
		result, err := p.GetResults()
		if err != nil {
			return rows, err
		}
		reader, is := result.(*pgconn.ResultReader)
		if !is {
			return rows, fmt.Errorf("a pipeline gave %T; expected rows", result)
		}
		n, err := rowsOf(reader)
		rows += n
		if err != nil {
			return rows, err
		}
	}
	return rows, p.Close()
}

var errRows = errors.New("another number of rows than asked for")

// rowsOf counts the rows of a result.
func rowsOf(r *pgconn.ResultReader) (rows int, err error) {
	for r.NextRow() {
		rows++
	}
	_, err = r.Close()
	return rows, err
}
