package generator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// maxLag is how many ticks an ID may be behind the clock while a burst is caught up.
const maxLag = 5

// The state is the last ID issued, and in the bit that an ID leaves free:
const overflowed = uint64(1) << 63 // its tick was entered because the one before it was full

// sealed is the state that no draw leaves. It is no ID: a tick entered by overflow is not tick 0.
const sealed = overflowed

// Start says with which sequence a tick begins that is entered by the clock, not by overflow.
type Start int

const (
	// StartRandom: at random in the lower quarter of the sequence (of the first two numbers, if a quarter is fewer).
	// A quiet system then gives odd IDs as often as even ones, so that a hash or a shard by modulo is even.
	StartRandom Start = iota
	// StartZero: at 0. All of the sequence can be used in every tick, but a quiet system gives only multiples of the
	// sequence's size.
	StartZero
)

// Settings makes a Generator. Layout and Now are required.
type Settings struct {
	Layout Layout

	// Now is the clock, in ticks. It is called by each draw, concurrently, and should never step back; if it does, IDs go on
	// from the last one. Below 0 (not yet known, or before the epoch) there are no IDs.
	Now func() int64

	// Wait returns nil after the duration, or earlier with the context's error. A timer if nil.
	Wait func(context.Context, time.Duration) error

	// SequenceStart is StartRandom by default.
	SequenceStart Start

	// Random returns a number from 0 to limit-1, concurrently. math/rand/v2 if nil. Nothing secret depends on it.
	Random func(limit uint32) uint32
}

// Generator issues the IDs of one worker at a time. Its methods are safe for concurrent use. Make it with New.
type Generator struct {
	state atomic.Uint64
	grant atomic.Pointer[grant]

	now    func() int64
	wait   func(context.Context, time.Duration) error
	random func(uint32) uint32
	layout Layout

	// from the layout, for the hot path
	tickShift    int
	sequenceBits int
	maxWorker    int64
	maxSequence  int64
	maxTick      int64
	starts       uint32 // how many sequences a tick entered by the clock may begin with
}

// grant is what the lease permits: IDs of worker with a tick in [from, until). Immutable.
type grant struct {
	worker      int64
	from, until int64 // ticks; until is at most MaxTick+1
}

// New makes a generator that has no grant.
func New(s Settings) (*Generator, error) {
	if err := s.Layout.Validate(); err != nil {
		return nil, err
	}
	if s.Now == nil {
		return nil, errors.New("a generator needs a clock: Settings.Now is nil")
	}
	size := uint32(s.Layout.MaxSequence()) + 1
	g := &Generator{
		now: s.Now, wait: s.Wait, random: s.Random, layout: s.Layout,
		tickShift: s.Layout.tickShift(), sequenceBits: s.Layout.SequenceBits,
		maxWorker: int64(s.Layout.Workers()) - 1, maxSequence: int64(s.Layout.MaxSequence()), maxTick: s.Layout.MaxTick(),
	}
	switch s.SequenceStart {
	case StartRandom:
		g.starts = max(size/4, 2)
	case StartZero:
		g.starts = 1
	default:
		return nil, fmt.Errorf("sequence start %d is neither StartRandom nor StartZero", s.SequenceStart)
	}
	if g.wait == nil {
		g.wait = new(sleeper).wait
	}
	if g.random == nil {
		g.random = rand.Uint32N
	}
	return g, nil
}

// Grant replaces the grant: from now on IDs carry worker and a tick in [from, until). The same worker again extends the grant.
// Another worker begins in a tick later than the last ID's. A worker that was lost may come back later with a later from.
// An until beyond the end of the timestamp bits is the end of the timestamp bits.
//
// Draws under way may still issue from the grant before; it is the caller's to know that it stays good to its end. For that
// reason a grant cannot be shortened. An error leaves the old grant in place. After Seal it is ErrSealed.
func (g *Generator) Grant(worker int, from, until int64) error {
	switch {
	case worker < 0 || worker >= g.layout.Workers():
		return fmt.Errorf("grant of worker %d: layout %v has workers 0 to %d", worker, g.layout, g.layout.Workers()-1)
	case from < 0 || until <= from:
		return fmt.Errorf("grant of worker %d from tick %d until tick %d: from must not be negative, and until must be later",
			worker, from, until)
	case from > g.maxTick:
		return fmt.Errorf("grant of worker %d from tick %d: %w: the last tick is %d", worker, from, ErrEndOfTime, g.maxTick)
	}
	next := &grant{worker: int64(worker), from: from, until: min(until, g.maxTick+1)}
	for {
		last := g.grant.Load()
		if g.state.Load() == sealed {
			return ErrSealed
		}
		if last != nil && last.worker == next.worker && next.until < last.until {
			return fmt.Errorf("grant of worker %d until tick %d: it was granted until tick %d before, and a grant cannot be shortened; Seal ends a generator",
				worker, next.until, last.until)
		}
		if g.grant.CompareAndSwap(last, next) {
			return nil
		}
	}
}

// Seal ends issuing for good. When it has returned no ID is issued any more. A draw that was under way may still return
// one that was issued before; callers that wait get ErrSealed when their wait, at most one unit, is over.
func (g *Generator) Seal() { g.state.Store(sealed) }

// Next draws one ID. It waits only if none can be had in the present tick, and looks at ctx only when it waits. Errors: ErrNoGrant,
// ErrGrantEnded, ErrSealed, ErrEndOfTime, or the context's.
func (g *Generator) Next(ctx context.Context) (int64, error) {
	id, _, err := g.NextN(ctx, 1)
	return id, err
}

// NextN draws a run of IDs, first, first+1, … first+count-1, as many as one tick has left and at most n: 1 <= count <= n
// if there is no error. It waits and fails as Next does.
func (g *Generator) NextN(ctx context.Context, n int) (first int64, count int, err error) {
	for {
		first, count, delay, err := g.draw(n)
		if count > 0 || err != nil {
			return first, count, err
		}
		if err := g.wait(ctx, delay); err != nil {
			return 0, 0, fmt.Errorf("waiting for the next tick: %w", err)
		}
	}
}

// TryNextN draws as NextN does but never waits: a count of 0 without an error means that there is none at this moment. The tick is
// full, belongs to a worker replaced in its course, or the grant begins with a later one. NextN waits for it.
func (g *Generator) TryNextN(n int) (first int64, count int, err error) {
	first, count, _, err = g.draw(n)
	return first, count, err
}

// draw issues a run of up to n IDs, or says how long to wait before the next attempt.
func (g *Generator) draw(n int) (first int64, count int, delay time.Duration, err error) {
	if n < 1 {
		return 0, 0, 0, fmt.Errorf("%d IDs were asked for; at least 1 can be drawn", n)
	}
	for {
		grant := g.grant.Load()
		now := g.now()
		state := g.state.Load()
		if state == sealed {
			return 0, 0, 0, ErrSealed
		}
		if grant == nil {
			return 0, 0, 0, ErrNoGrant
		}
		at := g.after(state, grant, now)
		if !at.open {
			return 0, 0, g.delay(at.tick - now), nil
		}
		if at.tick >= grant.until {
			if g.grant.Load() != grant {
				continue // extended or replaced in the meantime
			}
			return 0, 0, 0, g.ended(grant, at.tick)
		}
		count = int(min(int64(n), g.maxSequence-at.sequence+1))
		first = at.tick<<g.tickShift | grant.worker<<g.sequenceBits | at.sequence
		// The last ID of the run is larger than the one in state: it has a later tick, or the same tick and worker and a
		// later sequence (after).
		if g.state.CompareAndSwap(state, uint64(first+int64(count)-1)|at.flag) {
			return first, count, 0, nil
		}
	}
}

// place is where an ID goes.
type place struct {
	tick, sequence int64
	flag           uint64 // overflowed or 0
	open           bool   // false: there is no place before the clock has reached tick
}

// after finds the place after the last ID. Its tick is at least grant.from; that it is before grant.until is for the caller
// to see.
func (g *Generator) after(state uint64, grant *grant, now int64) place {
	last := int64(state &^ overflowed)
	tick, sequence := last>>g.tickShift, last&g.maxSequence
	same := last>>g.sequenceBits&g.maxWorker == grant.worker && last != 0 // 0 is the state before the first ID
	full := sequence == g.maxSequence
	oldest := max(grant.from, now-maxLag)
	switch {
	case same && !full && tick >= oldest && (tick >= now || state&overflowed != 0):
		return place{tick, sequence + 1, state & overflowed, true}
	case full && tick+1 >= oldest && tick < now:
		return place{tick + 1, 0, overflowed, true}
	case tick < now && grant.from <= now:
		return place{now, int64(g.random(g.starts)), 0, true}
	}
	return place{tick: max(tick+1, grant.from)}
}

// delay is how long to wait before looking at the clock again, which is so many ticks before the one wanted. The clock does not
// tell how far its tick has gone, half a unit on average; and no wait is longer than a unit, so that a sealed or newly
// granted generator is noticed.
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
	return &GrantEnded{Worker: int(grant.worker), Until: grant.until, Tick: tick}
}
