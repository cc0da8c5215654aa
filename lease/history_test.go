package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// A history leads several keepers, each with its own clock and all with one table, through faults of every kind: refused,
// lost, applied but unknown, late and slow writes, crashes, stops, drift, steps of the database's clock, take-over, retirement.
// Keepers and clocks are the real ones; the table is rows_test.go.
type history struct {
	choose func(what string, low, high int) int
	broken func(format string, args ...any) // an invariant does not hold

	real     time.Duration
	offset   time.Duration // of the database's clock
	table    *rows
	fails    bool // failovers happen, between servers whose clocks are steady and differ by at most the skew; else the clock is set, and no server fails
	nodes    []*node
	depth    int      // of histories within a slow write
	inFlight []func() // writes that will still arrive
	lives    int
	grants   map[int][]*tenure // by worker
	marks    []int64

	acquisitions, renewals, unknowns int
}

// A tenure is all that one acquisition was ever granted.
type tenure struct {
	life        int
	owner       string
	from, until int64
}

// A node is one life of a process: its keeper, its clocks, and what its issuer may do.
type node struct {
	h         *history
	life      int
	name      string
	keeper    *Keeper
	monotonic time.Duration
	rate      int // of the monotonic clock, thousandths
	stopped   bool
	busy      bool // inside a slow write
	dead      bool

	grant    *tenure
	worker   int
	ackUntil int64 // what the last clean acknowledgement said
	last     int64 // tick of the last ID
	shown    int64 // tick the clock showed last
	sealed   bool
}

var errUnknown = errors.New("outcome unknown: the connection broke")

const (
	testWindow     = 6 * time.Second
	testFirst      = time.Second
	testSkew       = 500
	testQuarantine = 12_000
)

func newHistory(choose func(string, int, int) int, broken func(string, ...any), fails bool, without string) *history {
	workers, nodes := choose("workers", 1, 4), choose("nodes", 1, 4)
	h := &history{choose: choose, broken: broken, grants: map[int][]*tenure{}, real: time.Hour, fails: fails}
	h.table = &rows{
		namespace: "n", window: testWindow.Milliseconds(), skew: testSkew, quarantine: testQuarantine,
		workers: make([]rowState, workers), without: without, now: func() int64 { return (h.real + h.offset).Milliseconds() },
	}
	h.marks = make([]int64, workers)
	h.table.commit()
	for i := range nodes {
		h.nodes = append(h.nodes, h.start(fmt.Sprint("node ", i)))
	}
	return h
}

func (h *history) start(name string) *node {
	h.lives++
	n := &node{h: h, life: h.lives, name: name, rate: 1000, last: Unset, shown: Unset, monotonic: time.Duration(h.lives) * time.Minute}
	n.rate = []int{1000, 1000, 1050, 950}[h.choose("rate", 0, 3)]
	clock := NewClockFrom(time.Millisecond, func() time.Duration { return n.monotonic })
	keeper, err := NewKeeper(Settings{
		Namespace: "n", Store: n, Issuer: n, Clock: clock, Node: name, Window: testWindow, FirstWindow: testFirst,
		Log: slog.New(slog.DiscardHandler), Jitter: func() float64 { return 0.5 },
	})
	if err != nil {
		panic(err)
	}
	owners := 0
	keeper.protocol.newOwner = func() string { owners++; return fmt.Sprint(n.life, "/", owners) }
	n.keeper = keeper
	return n
}

func (h *history) pass(d time.Duration) {
	h.real += d
	for _, n := range h.nodes {
		if !n.stopped {
			n.monotonic += d * time.Duration(n.rate) / 1000
		}
	}
}

// step lets one thing happen.
func (h *history) step() {
	n := h.nodes[h.choose("node", 0, len(h.nodes)-1)]
	switch h.choose("what", 0, 15) {
	case 0, 1, 2, 3, 4, 5:
		n.act()
	case 6, 7:
		n.draw()
	case 8:
		h.pass([]time.Duration{time.Millisecond, 300 * time.Millisecond, 2 * time.Second, 9 * time.Second, 30 * time.Second}[h.choose("time", 0, 4)])
	case 9:
		h.land()
	case 10:
		n.stopped = !n.stopped
	case 11:
		h.restart(n, h.choose("in order", 0, 1) == 1)
	case 12:
		h.stepClock()
	case 13:
		if h.choose("really", 0, 9) == 0 {
			h.table.workers[h.choose("retired", 0, len(h.table.workers)-1)].retired = true
		}
	case 14:
		if h.choose("really", 0, 2) == 0 {
			h.table.reseed()
		}
	case 15:
		h.failover()
	}
	h.check()
}

// act is one turn of the keeper: it waits until its time has come, then makes its attempt.
func (n *node) act() {
	if n.stopped || n.busy || n.dead {
		return
	}
	k := n.keeper
	next := k.protocol.next(k.clock.Monotonic(), k.clock.Now())
	if next.wait > 0 {
		n.h.pass(next.wait * 1000 / time.Duration(n.rate))
		n.h.pass(time.Millisecond)
		next = k.protocol.next(k.clock.Monotonic(), k.clock.Now())
	}
	n.busy = true
	defer func() { n.busy = false }()
	var err error
	switch {
	case next.acquire != nil:
		err = k.acquire(context.Background(), *next.acquire, next.limit)
	case next.renew != nil:
		err = k.renew(context.Background(), *next.renew, next.limit)
	}
	if err != nil {
		n.h.broken("keeper gave up: %v", err)
	}
}

// draw issues an ID as a generator does: at the clock's tick, or the last one's, if it lies in the grant.
func (n *node) draw() {
	if n.stopped || n.sealed || n.grant == nil {
		return
	}
	now := n.keeper.clock.Now()
	if now < n.shown {
		n.h.broken("invariant 7: the clock of %s stepped back from %d to %d", n.name, n.shown, now)
	}
	n.shown = now
	if tick := max(now, n.last, n.grant.from); tick < n.ackUntil {
		n.last = tick
	}
}

func (h *history) land() {
	if len(h.inFlight) == 0 {
		return
	}
	i := h.choose("late write", 0, len(h.inFlight)-1)
	write := h.inFlight[i]
	h.inFlight = slices.Delete(h.inFlight, i, i+1)
	write()
}

func (h *history) restart(n *node, inOrder bool) {
	if n.busy {
		return
	}
	n.busy = true
	if inOrder && !n.stopped {
		n.Seal()
		n.keeper.release(context.Background())
	}
	n.dead = true
	h.nodes[slices.Index(h.nodes, n)] = h.start(n.name)
}

// check looks at the table after every step.
func (h *history) check() {
	for i, w := range h.table.workers {
		if w.mark < h.marks[i] {
			h.broken("invariant 3: the mark of worker %d fell from %d to %d", i, h.marks[i], w.mark)
		}
		h.marks[i] = w.mark
	}
}

// Grant implements Issuer, and is where two holders of one tick would meet.
func (n *node) Grant(worker int, from, until int64) error {
	if until > n.ackUntil || worker != n.worker {
		n.h.broken("invariant 1: granted worker %d until %d, acknowledged %d until %d", worker, until, n.worker, n.ackUntil)
	}
	owner := n.keeper.protocol.held.Owner
	if n.grant == nil || n.grant.owner != owner {
		n.grant = &tenure{life: n.life, owner: owner, from: from, until: until}
		n.h.grants[worker] = append(n.h.grants[worker], n.grant)
		n.h.acquisitions++
	}
	n.grant.from, n.grant.until = min(n.grant.from, from), max(n.grant.until, until)
	for _, other := range n.h.grants[worker] {
		if other != n.grant && other.from < n.grant.until && n.grant.from < other.until {
			n.h.broken("invariant 4: worker %d: life %d has [%d, %d), life %d has [%d, %d)", worker,
				n.life, n.grant.from, n.grant.until, other.life, other.from, other.until)
		}
	}
	return nil
}

func (n *node) Seal() { n.sealed = true }

// attempt lets a write meet its fate. answer is what a clean acknowledgement brings.
func (n *node) attempt(write func() error, answer func()) error {
	h := n.h
	fate := h.choose("fate", 0, 11)
	if h.depth > 2 {
		fate = min(fate, 9)
	}
	switch fate {
	case 6: // lost on its way
		if h.table.without == "acknowledgement" { // … yet believed
			before := slices.Clone(h.table.workers)
			err := write()
			if err == nil {
				answer()
			}
			h.table.workers = before
			return err
		}
		return errUnknown
	case 7: // applied, but the answer is lost or not clean
		_ = write()
		h.unknowns++
		return errUnknown
	case 8: // will arrive later
		h.inFlight = append(h.inFlight, func() { _ = write() })
		return errUnknown
	case 9:
		return fmt.Errorf("%w: %w", ErrBlocked, errUnknown)
	case 10, 11: // slow: the others go on meanwhile
		err := write()
		h.depth++
		for range h.choose("meanwhile", 1, 4) {
			h.step()
		}
		h.depth--
		if err == nil {
			answer()
		}
		return err
	default:
		err := write()
		if err == nil {
			answer()
		}
		return err
	}
}

func (n *node) Acquire(_ context.Context, r Request) (a Acquired, err error) {
	err = n.attempt(
		func() (err error) { a, err = n.h.table.acquire(r); return err },
		func() { n.worker, n.ackUntil = a.Worker, a.Grant.Until })
	return a, err
}

func (n *node) Renew(_ context.Context, r Renewal) (a Renewed, err error) {
	err = n.attempt(
		func() (err error) {
			t := n.h.table
			before := t.workers[r.Worker]
			a, err = t.renew(r)
			after := t.workers[r.Worker].mark - t.now()
			if without, last := before.mark-t.now(), before.mark-before.renewed; after > max(t.window+t.skew, without, last) {
				n.h.broken("invariant 5: worker %d is reserved %d ticks ahead, without this renewal %d, after the last one %d",
					r.Worker, after, without, last)
			}
			return err
		},
		func() { n.ackUntil = a.Until; n.h.renewals++ })
	return a, err
}

func (n *node) Release(_ context.Context, l Lease, acknowledged int64) error {
	return n.attempt(func() error { return n.h.table.release(l, acknowledged) }, func() {})
}

func (n *node) Close() {}

func milliseconds(ticks int64) time.Duration { return time.Duration(ticks) * time.Millisecond }

// stepClock sets the database's clock forward or back.
func (h *history) stepClock() {
	if !h.fails {
		h.offset += []time.Duration{-time.Minute, -5 * time.Second, -time.Second, time.Second, 5 * time.Second, time.Minute}[h.choose("clock step", 0, 5)]
	}
}

// failover loses the last commits, acknowledged or not, and all that was under way. The new server has its own clock.
func (h *history) failover() {
	if h.fails {
		h.table.forget(h.choose("commits lost", 0, 12))
		h.inFlight = nil
		h.offset = milliseconds(int64(h.choose("clock of the new server", 0, testSkew)))
		for i, w := range h.table.workers {
			h.marks[i] = w.mark // marks never fall on one timeline
		}
	}
}

func (h *history) run(steps int) {
	for range steps {
		h.step()
	}
}
