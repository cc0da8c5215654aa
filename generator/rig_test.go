package generator

import (
	"context"
	"flag"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// A history takes microseconds, so run many. A number on the command line wins, because it is read later.
	if err := flag.Set("rapid.checks", "5000"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// failer is a *testing.T or a *rapid.T.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// span is ticks from … until-1.
type span struct{ from, until int64 }

// rig is a generator with a clock that the test owns, and an auditor that checks every ID against the invariants of the
// package. One goroutine uses it.
type rig struct {
	*Generator
	t       failer
	layout  Layout
	elapsed time.Duration // the clock; a wait moves it
	waits   []time.Duration
	lagging func() time.Duration // how much longer a wait takes; nil: not at all
	// Actions of another goroutine: just before the clock is read (the grant is loaded then), and between the reading
	// of the state and the swap. The rig removes an action before it runs it.
	beforeNow, beforeSwap func()
	start                 func(limit uint32) uint32

	seen   int64 // the last clock reading of the draw under way
	last   int64 // the last ID issued, by any goroutine
	grants map[int][]span
	now    *span // the present grant
	worker int
}

func newRig(t failer, layout Layout) *rig {
	t.Helper()
	r := &rig{t: t, layout: layout, grants: map[int][]span{}, start: func(uint32) uint32 { return 0 }}
	g, err := New(Settings{Layout: layout, Now: r.tick, Wait: r.sleep, Random: r.random})
	if err != nil {
		t.Fatalf("%v", err)
	}
	r.Generator = g
	return r
}

// small has 2 sequence bits (4 IDs a tick) and 8 workers.
func small() Layout {
	l := DefaultLayout()
	l.WorkerBits, l.SequenceBits = 3, 2
	return l
}

func (r *rig) at(tick int64) { r.elapsed = time.Duration(tick) * r.layout.Unit }

func (r *rig) clock() int64 { return int64(r.elapsed / r.layout.Unit) }

func (r *rig) tick() int64 {
	r.run(&r.beforeNow)
	r.seen = r.clock()
	return r.seen
}

func (r *rig) random(limit uint32) uint32 {
	r.run(&r.beforeSwap)
	return r.start(limit)
}

func (r *rig) run(hook *func()) {
	f := *hook
	if f == nil {
		return
	}
	*hook = nil
	seen := r.seen
	f()
	r.seen = seen
}

func (r *rig) sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.waits = append(r.waits, d)
	r.elapsed += d
	if r.lagging != nil {
		r.elapsed += r.lagging()
	}
	return nil
}

// permit grants and records the grant.
func (r *rig) permit(worker int, from, until int64) {
	r.t.Helper()
	if err := r.Grant(worker, from, until); err != nil {
		r.t.Fatalf("grant of %d [%d, %d): %v", worker, from, until, err)
	}
	r.worker, r.now = worker, &span{from, until}
	r.grants[worker] = append(r.grants[worker], *r.now)
}

// try draws without waiting.
func (r *rig) try(n int) (int, error) {
	r.t.Helper()
	waits := len(r.waits)
	first, count, err := r.TryNextN(n)
	if len(r.waits) != waits {
		r.t.Fatalf("invariant 9: TryNextN waited")
	}
	r.audit(first, count, n, err)
	return count, err
}

// draw draws, and waits if necessary.
func (r *rig) draw(ctx context.Context, n int) (int64, int, error) {
	r.t.Helper()
	first, count, err := r.NextN(ctx, n)
	if err == nil && count == 0 {
		r.t.Fatalf("NextN gave neither an ID nor an error")
	}
	r.audit(first, count, n, err)
	return first, count, err
}

// next draws one ID by Next, which has a fast path of its own.
func (r *rig) next(ctx context.Context) error {
	r.t.Helper()
	id, err := r.Next(ctx)
	count := 1
	if err != nil {
		count = 0
	}
	r.audit(id, count, 1, err)
	return err
}

// one draws a single ID, and fails the test if there is none.
func (r *rig) one() Parts {
	r.t.Helper()
	first, _, err := r.draw(context.Background(), 1)
	if err != nil {
		r.t.Fatalf("no ID at tick %d: %v", r.clock(), err)
	}
	return r.parts(first)
}

func (r *rig) parts(id int64) Parts {
	r.t.Helper()
	p, err := r.layout.Decode(id)
	if err != nil {
		r.t.Fatalf("%v", err)
	}
	return p
}

// audit checks a run against invariants 1, 2, 3, 6 and 7.
func (r *rig) audit(first int64, count, n int, err error) {
	r.t.Helper()
	if err != nil && count != 0 || count < 0 || count > n {
		r.t.Fatalf("%d of %d IDs, error %v", count, n, err)
	}
	if count == 0 {
		return
	}
	final := first + int64(count) - 1
	if first <= r.last {
		r.t.Fatalf("invariant 1: %d after %d", first, r.last)
	}
	previous := r.parts(r.last).Tick
	r.last = final
	p, end := r.parts(first), r.parts(final)
	if end.Tick != p.Tick || end.Worker != p.Worker || end.Sequence-p.Sequence != count-1 {
		r.t.Fatalf("invariant 7: a run from %+v to %+v", p, end)
	}
	spans, granted := r.grants[p.Worker]
	if !granted {
		r.t.Fatalf("invariant 2: worker %d was never granted", p.Worker)
	}
	inside := false
	for _, s := range spans {
		inside = inside || p.Tick >= s.from && p.Tick < s.until
	}
	if !inside {
		r.t.Fatalf("invariant 3: tick %d of worker %d is outside of its grants %v", p.Tick, p.Worker, spans)
	}
	// The last ID may be ahead of a clock that stepped back; then IDs continue in its tick.
	if p.Tick > max(r.seen, previous) || p.Tick < r.seen-maxLag {
		r.t.Fatalf("invariant 6: tick %d when the clock showed %d", p.Tick, r.seen)
	}
}

// fill draws until the present tick is full.
func (r *rig) fill() (drawn int) {
	r.t.Helper()
	for {
		count, err := r.try(r.layout.MaxSequence() + 1)
		if err != nil {
			r.t.Fatalf("%v", err)
		}
		if count == 0 {
			return drawn
		}
		drawn += count
	}
}

var background = context.Background()

func fresh(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, small())
	r.at(1000)
	return r
}
