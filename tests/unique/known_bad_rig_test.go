package unique

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/generator"
	"pgflurry/internal/connect"
	"pgflurry/internal/lease"
	"pgflurry/internal/namespace"
	"pgflurry/migrations"
	"pgflurry/tests/support/recorder"
	"pgflurry/tests/support/server"
)

// compose puts an ID together as the bad ways do, without a check that each part fits its bits.
func compose(tick, worker, sequence int64) int64 { return tick<<22 | worker<<12 | sequence }

// second returns the error that says that an ID came twice. The test fails if there is none.
func second(t *testing.T, err error) *recorder.Twice {
	t.Helper()
	var twice *recorder.Twice
	if !errors.As(err, &twice) {
		t.Fatalf("no ID came twice: %v", err)
	}
	return twice
}

// house is a database with a namespace, and every ID that was drawn in it.
type house struct {
	t         *testing.T
	url       string
	namespace namespace.Namespace
	ids       *recorder.Recorder
}

func newHouse(t *testing.T, layout string) *house {
	t.Helper()
	server.NoLeak(t)
	h := &house{
		t: t, url: server.MigratedWith(t, migrations.Settings{Layout: layout, DatabaseWorkers: 1}),
		ids: recorder.New("", 0),
	}
	var err error
	if h.namespace, err = namespace.Read(t.Context(), server.Connect(t, h.url)); err != nil {
		t.Fatal(err)
	}
	return h
}

// An instance is the inside of one proxy process. While its machine is asleep, its monotonic clock and its keeper stand
// still.
type instance struct {
	h      *house
	node   string
	ids    *generator.Generator
	keeper *lease.Keeper
	slept  atomic.Int64 // nanoseconds that its monotonic clock jumps ahead on waking
	asleep chan struct{}
	stop   context.CancelFunc
	ended  chan struct{} // closed when Run has returned
	err    error         // of Run; valid after ended
}

// start runs a core whose lease database is at url.
func (h *house) start(node, url string) *instance {
	h.t.Helper()
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		h.t.Fatal(err)
	}
	c := &instance{h: h, node: node, ended: make(chan struct{}), asleep: make(chan struct{})}
	begin := time.Now()
	clock := lease.NewClockFrom(h.namespace.Layout.Unit, func() time.Duration {
		return time.Since(begin) + time.Duration(c.slept.Load())
	})
	if c.ids, err = generator.New(generator.Settings{Layout: h.namespace.Layout, Now: clock.Now}); err != nil {
		h.t.Fatal(err)
	}
	c.keeper, err = lease.NewKeeper(lease.Settings{
		Namespace: h.namespace.ID, Store: lease.NewPostgres(config, connect.Rules{}), Issuer: c.ids, Clock: clock,
		Node: node, Wait: c.wait,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	go func() {
		c.err = c.keeper.Run(ctx)
		close(c.ended)
	}()
	h.t.Cleanup(func() {
		stop()
		<-c.ended
	})
	return c
}

// wait is the keeper's wait. While the core is asleep it does not end.
func (c *instance) wait(ctx context.Context, d time.Duration, woken <-chan struct{}) bool {
	suspected := connect.Sleep(ctx, d, woken)
	select {
	case <-c.asleep:
		<-ctx.Done()
	default:
	}
	return suspected
}

// granted waits for the first grant.
func (c *instance) granted() *instance {
	c.h.t.Helper()
	select {
	case <-c.keeper.Granted():
	case <-c.ended:
		c.h.t.Fatalf("the keeper of %s ended: %v", c.node, c.err)
	case <-time.After(time.Minute):
		c.h.t.Fatalf("no worker for %s in a minute", c.node)
	}
	return c
}

// draw draws n IDs, and fails if one of them came before.
func (c *instance) draw(n int) []int64 {
	c.h.t.Helper()
	var drawn []int64
	for len(drawn) < n {
		first, count, err := c.ids.NextN(c.h.t.Context(), n-len(drawn))
		if err != nil {
			c.h.t.Fatalf("%s: %v", c.node, err)
		}
		for i := range int64(count) {
			drawn = append(drawn, first+i)
		}
	}
	if err := c.h.ids.Add(drawn...); err != nil {
		c.h.t.Fatalf("%s: %v", c.node, err)
	}
	return drawn
}

// meet lets two cores draw in turns until they have had this number of ticks in common.
func (h *house) meet(a, b *instance, ticks int64) {
	h.t.Helper()
	firstA, firstB := h.tick(a.draw(1)[0]), h.tick(b.draw(1)[0])
	for begun, last := max(firstA, firstB), int64(0); last < begun+ticks; {
		drawnA, drawnB := a.draw(1000), b.draw(1000)
		last = min(h.tick(drawnA[999]), h.tick(drawnB[999]))
	}
}

// tick of an ID.
func (h *house) tick(id int64) int64 {
	l := h.namespace.Layout
	return id >> (l.DatacenterBits + l.WorkerBits + l.SequenceBits)
}

// end lets the core end in good order.
func (c *instance) end() {
	c.h.t.Helper()
	c.stop()
	if <-c.ended; c.err != nil {
		c.h.t.Fatal(c.err)
	}
}

// worker of an ID.
func (h *house) worker(id int64) int {
	h.t.Helper()
	parts, err := h.namespace.Layout.Decode(id)
	if err != nil {
		h.t.Fatal(err)
	}
	return parts.Worker
}
