package generator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// maxLag is how many ticks an ID may be behind the clock while a burst is caught up.
const maxLag = 5

// overflowed is the flag in the state: the last ID's tick was entered because the tick before it was full. It uses the
// sign bit, which an ID leaves free.
const overflowed = uint64(1) << 63

// sealed is the state that no draw leaves. It cannot be an ID: a tick entered by overflow is never tick 0.
const sealed = overflowed

// Settings are those of a Generator. Layout and Now are required.
type Settings struct {
	Layout Layout

	// Now is the clock, in ticks. Each draw calls it, concurrently. It should never step back; if it does, IDs continue
	// from the last one. While it is negative (not yet known, or before the epoch) there are no IDs.
	Now func() int64

	// Wait returns nil after the duration, or earlier with the context's error. A timer if nil.
	Wait func(context.Context, time.Duration) error

	// Random returns the first sequence of a tick that the clock enters, from 0 to limit-1. It is called concurrently.
	// The default is math/rand/v2. Without it a quiet system would give mostly even IDs, and a shard by modulo would be
	// uneven. It is not used for secrets.
	Random func(limit uint32) uint32
}

// Generator issues the IDs of one worker at a time. Its methods are safe for concurrent use. Make it with New.
type Generator struct {
	state atomic.Uint64
	_     [64]byte // the state has its own cache line: every draw reads what follows, and hardly any writes it
	grant atomic.Pointer[grant]

	now    func() int64
	wait   func(context.Context, time.Duration) error
	random func(uint32) uint32
	layout Layout

	// from the layout, for the hot path
	tickShift   uint8
	maxSequence uint64
	maxTick     int64
	busyStarts  int64 // how many sequences a tick may begin with that follows one with IDs
}

// grant is what the lease permits: IDs of worker with a tick in [from, until). It is immutable. The zero grant permits
// none, and stands for "Grant has not been called".
type grant struct {
	worker      int
	bits        int64 // the worker, shifted to its place in an ID
	from, until int64 // ticks; from is at least 1, because no ID has tick 0, and until at most MaxTick+1
}

// New makes a generator that has no grant.
func New(s Settings) (*Generator, error) {
	if err := s.Layout.Validate(); err != nil {
		return nil, err
	}
	if s.Now == nil {
		return nil, errors.New("a generator needs a clock: Settings.Now is nil")
	}
	g := &Generator{
		now: s.Now, wait: s.Wait, random: s.Random, layout: s.Layout,
		tickShift: uint8(s.Layout.tickShift()), maxSequence: uint64(s.Layout.MaxSequence()),
		maxTick:    s.Layout.MaxTick(),
		busyStarts: max(int64(s.Layout.MaxSequence()+1)/4, 2),
	}
	g.grant.Store(new(grant))
	if g.wait == nil {
		g.wait = new(sleeper).wait
	}
	if g.random == nil {
		g.random = rand.Uint32N
	}
	return g, nil
}

// Grant replaces the grant: from now on IDs carry worker and a tick in [from, until). The same worker again extends the
// grant. Another worker begins in a tick after the last ID's. A worker that was lost may come back later with a later
// from. If until is beyond the end of the timestamp bits, the grant ends with them.
//
// Draws under way may still issue from the earlier grant, so the caller must be sure that it stays valid to its end.
// For that reason a grant cannot be shortened. If Grant fails, the old grant stays in place. After Seal it returns
// ErrSealed.
func (g *Generator) Grant(worker int, from, until int64) error {
	switch {
	case worker < 0 || worker >= g.layout.Workers():
		return fmt.Errorf("grant of worker %d: layout %v has workers 0 to %d", worker, g.layout, g.layout.Workers()-1)
	case from < 0 || until <= from:
		return fmt.Errorf("grant of worker %d from tick %d until tick %d: "+
			"from must not be negative, and until must be later",
			worker, from, until)
	case from > g.maxTick:
		return fmt.Errorf("grant of worker %d from tick %d: %w: the last tick is %d",
			worker, from, ErrEndOfTime, g.maxTick)
	}
	next := &grant{
		worker: worker, bits: int64(worker) << g.layout.SequenceBits, from: max(from, 1),
		until: min(until, g.maxTick+1),
	}
	for {
		last := g.grant.Load()
		if g.state.Load() == sealed {
			return ErrSealed
		}
		if last.worker == next.worker && next.until < last.until {
			return fmt.Errorf("grant of worker %d until tick %d: it was granted until tick %d before, "+
				"and a grant cannot be shortened; Seal ends a generator",
				worker, next.until, last.until)
		}
		if g.grant.CompareAndSwap(last, next) {
			return nil
		}
	}
}

// Revoke takes the grant back: Next fails with ErrNoGrant until the next Grant. A draw that was under way may still
// issue from the former grant. The IDs after the next Grant follow those before.
func (g *Generator) Revoke() { g.grant.Store(new(grant)) }

// Seal ends issuing for good. When it has returned, no ID is issued any more. A draw that was under way may still
// return an ID that was issued before. A caller that waits gets ErrSealed within one unit of the layout.
func (g *Generator) Seal() { g.state.Store(sealed) }

// Next draws one ID. It waits only if the present tick has none left, and only then looks at ctx. Errors: ErrNoGrant,
// ErrGrantEnded, ErrSealed, ErrEndOfTime, or the context's.
func (g *Generator) Next(ctx context.Context) (int64, error) {
	grant, now := g.grant.Load(), g.now()
	if id := g.onward(grant, now); id != 0 {
		return id, nil
	}
	id, count, delay, err := g.draw(1, grant, now)
	if count == 0 && err == nil {
		id, _, err = g.later(ctx, 1, delay)
	}
	return id, err
}

// NextN draws a run of IDs: first, first+1, … first+count-1. The run has as many IDs as the tick has left, at least 1
// and at most n. NextN waits and fails as Next does.
func (g *Generator) NextN(ctx context.Context, n int) (first int64, count int, err error) {
	first, count, delay, err := g.draw(n, g.grant.Load(), g.now())
	if count == 0 && err == nil {
		return g.later(ctx, n, delay)
	}
	return first, count, err
}

// later waits and draws again until there is an ID. delay is the first wait, as the draw before has returned it.
func (g *Generator) later(ctx context.Context, n int, delay time.Duration) (first int64, count int, err error) {
	for {
		if err := g.wait(ctx, delay); err != nil {
			return 0, 0, fmt.Errorf("waiting for the next tick: %w", err)
		}
		if first, count, delay, err = g.draw(n, g.grant.Load(), g.now()); count > 0 || err != nil {
			return first, count, err
		}
	}
}

// Has returns how many IDs a worker has in a time, at most: those of all ticks that it touches.
func (g *Generator) Has(d time.Duration) int {
	return (int(d/g.layout.Unit) + 1) * int(g.maxSequence+1)
}

// TryNextN draws as NextN does but never waits. A count of 0 without an error means that there is no ID at this moment,
// but NextN would wait for one. The tick is full, or another worker has issued in it, or the grant begins later.
func (g *Generator) TryNextN(n int) (first int64, count int, err error) {
	grant, now := g.grant.Load(), g.now()
	if n == 1 {
		if id := g.onward(grant, now); id != 0 {
			return id, 1, nil
		}
	}
	first, count, _, err = g.draw(n, grant, now)
	return first, count, err
}

// onward is the fast path of a draw of one ID. It applies if the last ID has the grant's worker and the clock's tick.
// Otherwise, or if another draw was faster, it returns 0, and draw takes over. It never applies to a sealed generator.
func (g *Generator) onward(grant *grant, now int64) int64 {
	if grant.covers(now) {
		if last := g.state.Load(); g.used(last, grant, now) < g.maxSequence {
			if g.issue(last, last+1) {
				return int64(last+1) & math.MaxInt64
			}
		}
	}
	return 0
}

// draw issues a run of up to n IDs, or returns how long to wait before the next attempt. The caller must have loaded
// the grant before it read the clock.
func (g *Generator) draw(n int, grant *grant, now int64) (first int64, count int, delay time.Duration, err error) {
	if n < 1 {
		return 0, 0, 0, fmt.Errorf("%d IDs were asked for; at least 1 can be drawn", n)
	}
	for ; ; grant, now = g.grant.Load(), g.now() {
		state := g.state.Load()
		if state == sealed {
			return 0, 0, 0, ErrSealed
		}
		if grant.until == 0 {
			return 0, 0, 0, ErrNoGrant
		}
		at := g.after(state, grant, now, n)
		if at.left == 0 {
			return 0, 0, g.delay(at.tick - now), nil
		}
		if !grant.covers(at.tick) {
			if g.grant.Load() != grant {
				continue // extended or replaced in the meantime
			}
			return 0, 0, 0, g.ended(grant, at.tick)
		}
		run := min(int64(n), at.left)
		// The last ID of the run is larger than the one in state, by its tick or by its sequence (see after).
		if g.issue(state, uint64(at.first+run-1)|at.flag) {
			return at.first, int(run), 0, nil
		}
	}
}

// issue issues the IDs after state up to the one in next. Of all draws that began with the same state, only one
// succeeds.
func (g *Generator) issue(state, next uint64) bool { return g.state.CompareAndSwap(state, next) }

// place says where the next IDs begin, and how many there are.
type place struct {
	tick  int64
	first int64  // ID
	left  int64  // IDs from there to the end of the tick; 0: none before the clock reaches tick
	flag  uint64 // overflowed or 0
}

// after finds the place of the next n IDs. The tick is at least grant.from. The caller checks that it is before
// grant.until.
func (g *Generator) after(state uint64, grant *grant, now int64, n int) place {
	last := int64(state &^ overflowed)
	tick := last >> g.tickShift
	used := g.used(state, grant, tick)
	same := used <= g.maxSequence
	full := state&g.maxSequence == g.maxSequence
	oldest := max(grant.from, now-maxLag)
	switch {
	case same && !full && tick >= oldest && (tick >= now || state&overflowed != 0):
		return place{tick, last + 1, int64(g.maxSequence - used), state & overflowed}
	case full && tick+1 >= oldest && tick < now:
		return place{tick + 1, g.first(grant, tick+1), int64(g.maxSequence) + 1, overflowed}
	case tick < now && grant.from <= now:
		start := g.start(n, tick+1 == now)
		return place{now, g.first(grant, now) + start, int64(g.maxSequence) + 1 - start, 0}
	}
	return place{tick: max(tick+1, grant.from)}
}

// start returns the first sequence of a tick that the clock enters. The tick has room for n IDs behind it. If the tick
// before has IDs, so may have this one: then it begins in the lower quarter, and hardly anybody has to wait.
func (g *Generator) start(n int, busy bool) int64 {
	limit := max(int64(g.maxSequence)+2-int64(n), 1)
	if busy {
		limit = min(limit, g.busyStarts)
	}
	return int64(g.random(uint32(limit)))
}

// covers reports whether IDs may have the tick.
func (g *grant) covers(tick int64) bool { return tick >= g.from && tick < g.until }

// first returns the ID with the grant's worker, the tick and sequence 0.
func (g *Generator) first(grant *grant, tick int64) int64 { return tick<<(g.tickShift&63) | grant.bits }

// used returns the sequence of the last ID if that ID has the tick and the grant's worker. Otherwise it returns a
// number larger than any sequence.
func (g *Generator) used(state uint64, grant *grant, tick int64) uint64 {
	return state&^overflowed - uint64(g.first(grant, tick))
}

// delay returns how long to wait before the next look at the clock, if the wanted tick is so many ticks ahead. The
// clock does not show how much of its tick has passed, so it waits half a unit for the next tick. No wait is longer
// than a unit, so that a caller notices Seal and a new grant.
func (g *Generator) delay(ticks int64) time.Duration {
	if ticks > 1 {
		return g.layout.Unit
	}
	return g.layout.Unit / 2
}

func (g *Generator) ended(grant *grant, tick int64) error {
	if tick > g.maxTick {
		return ErrEndOfTime
	}
	return &grantEnded{worker: grant.worker, until: grant.until, tick: tick}
}
