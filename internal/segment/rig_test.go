package segment

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgflurry/internal/connect"
)

// table is pgflurry.segment in memory, shared by all stores that it opens.
type table struct {
	mu    sync.Mutex
	at    string // its origin
	rows  map[string]*counter
	delay time.Duration // of each fetch
	late  time.Duration // delay between reading a row and its answer
	slow  time.Duration // delay between taking a block and its answer
	lose  int           // answers to lose
	down  bool          // nothing reaches the rows
	open  int           // connections
	asked []Request
}

func newTable(tags ...string) *table {
	t := &table{at: "here", rows: map[string]*counter{}}
	for _, tag := range tags {
		t.rows[tag] = &counter{next: 1, step: 2000}
	}
	return t
}

// connection is a Store: it is used by one goroutine.
type connection struct {
	*table
	opened bool
}

func (c *connection) Fetch(ctx context.Context, r Request) (Block, error) {
	c.mu.Lock()
	delay := c.delay
	if !c.opened {
		c.opened = true
		c.open++
	}
	c.mu.Unlock()
	select {
	case <-time.After(delay):
	case <-ctx.Done():
		return Block{}, ctx.Err()
	}
	c.mu.Lock()
	defer time.Sleep(c.slow)
	defer c.mu.Unlock()
	c.asked = append(c.asked, r)
	row := c.rows[r.Tag]
	switch {
	case c.down:
		return Block{}, errors.New("the database is down")
	case r.Origin != c.at:
		return Block{}, ErrElsewhere
	case row == nil:
		return Block{}, ErrUnknownTag
	case row.next > math.MaxInt64-max(r.Size, row.step):
		return Block{}, ErrExhausted
	}
	b, err := row.fetch(r)
	if c.lose > 0 {
		c.lose--
		return Block{}, errLost
	}
	return b, err
}

func (c *connection) Rows(_ context.Context, origin string, tags []string) (rows []Row, err error) {
	c.mu.Lock()
	defer time.Sleep(c.late)
	defer c.mu.Unlock()
	if c.down {
		return nil, errors.New("the database is down")
	}
	if origin != c.at {
		return nil, ErrElsewhere
	}
	for _, tag := range tags {
		if row := c.rows[tag]; row != nil {
			rows = append(rows, Row{Tag: tag, Next: row.next, Step: row.step})
		}
	}
	return rows, nil
}

func (c *connection) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opened {
		c.opened = false
		c.open--
	}
}

// do changes the table.
func (t *table) do(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f()
}

// used returns how many connections are open, and how many fetches have reached the rows.
func (t *table) used() (connections, fetches int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open, len(t.asked)
}

// journal is the log of a source. Read it only when nothing in the bubble writes any more.
type journal struct{ lines bytes.Buffer }

func (j *journal) Write(line []byte) (int, error) { return j.lines.Write(line) }

func (j *journal) String() string {
	synctest.Wait()
	return j.lines.String()
}

// running is a source that runs until the test ends.
type running struct {
	*Source
	t         *testing.T
	log       *journal
	suspicion *connect.Suspicion
	stop      func()
}

func start(t *testing.T, of *table) *running {
	t.Helper()
	r := startOver(t, func() Store { return &connection{table: of} })
	r.look(of)
	return r
}

// startOver starts a source without saying where its numbers come from.
func startOver(t *testing.T, open func() Store) *running {
	t.Helper()
	r := &running{t: t, log: &journal{}, suspicion: new(connect.Suspicion)}
	source, err := New(Settings{
		Open: open, Suspicion: r.suspicion,
		Log: slog.New(slog.NewTextHandler(r.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Source = source
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		source.Run(ctx)
	}()
	r.stop = func() { cancel(); <-ended }
	return r
}

// look says where the table is, as a look does that was asked now.
func (r *running) look(of *table) { r.From(r.Origin(), of.at) }

// patience is the deadline of the callers.
const patience = 100 * time.Millisecond

// draw takes n numbers, and waits up to patience.
func (r *running) draw(tag string, n int) (all []int64, err error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	for len(all) < n {
		first, count, err := r.NextN(ctx, []byte(tag), n-len(all))
		if err != nil {
			return all, err
		}
		for i := range int64(count) {
			all = append(all, first+i)
		}
	}
	return all, nil
}

func (r *running) mustDraw(tag string, n int) []int64 {
	r.t.Helper()
	all, err := r.draw(tag, n)
	if err != nil {
		r.t.Fatalf("drawing %d of %s: %v", n, tag, err)
	}
	return all
}
