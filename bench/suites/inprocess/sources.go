package inprocess

import (
	"context"
	"errors"
	"time"

	"pgflurry/bench/report"
	"pgflurry/generator"
	"pgflurry/internal/lease"
)

// source makes IDs.
type source struct {
	name string
	// many makes calls, and returns what they gave. Several goroutines call it at once.
	many func(calls int) (made, error)
	// set changes settings of the whole process, and reset restores them; nil if there are none.
	set, reset func()
	// alone: it supports only one goroutine.
	alone bool
}

// made is the result of some calls.
type made struct {
	ids  int
	last any // last ID, so that no compiler removes a call
	// The part of the time that counts, and its processor time; 0 if all counts.
	took, spent time.Duration
}

// oneEach is a source with one ID a call. The call through a function value costs a nanosecond, for all contenders
// alike, and for the reading of the clock, too.
func oneEach[T any](name string, call func() (T, error)) source {
	return source{name: name, many: func(calls int) (made, error) {
		var last T
		for range calls {
			id, err := call()
			if err != nil {
				return made{}, err
			}
			last = id
		}
		return made{ids: calls, last: last}, nil
	}}
}

func clockReading() source {
	start := time.Now()
	return oneEach(report.ClockReading, func() (time.Duration, error) { return time.Since(start), nil })
}

func timeNow() source {
	return oneEach("`time.Now`, which reads two clocks", func() (time.Time, error) { return time.Now(), nil })
}

// wideLayout has four million IDs a millisecond.
func wideLayout() generator.Layout {
	l := generator.DefaultLayout()
	l.TimestampBits, l.WorkerBits, l.SequenceBits = 40, 1, 22
	return l
}

// Next is the product's generator as programs use it. The product's sources use the proxy's clock, except the one that
// names another.
const (
	Next      = "pgflurry `Next`"
	plainName = "pgflurry `Next`, a clock of one line"
	drawName  = "pgflurry `TryNextN(1)`, as the proxy draws"
)

func next(name string, layout generator.Layout, now func() int64) (source, error) {
	g, err := granted(layout, now)
	ctx := context.Background()
	return oneEach(name, func() (int64, error) { return g.Next(ctx) }), err
}

// draw is a source that asks for one ID, as the proxy does.
func draw(layout generator.Layout) (source, error) {
	g, err := granted(layout, leased(layout.Unit))
	return oneEach(drawName, func() (int64, error) {
		id, count, err := g.TryNextN(1)
		if count == 0 && err == nil {
			err = errors.New("the tick is full, in a layout that is wide")
		}
		return id, err
	}), err
}

const (
	runLength = 100 // IDs of one call of NextN
	nextNName = "pgflurry `NextN`, 100 a call"
)

func nextN() (source, error) {
	layout := wideLayout()
	g, err := granted(layout, leased(layout.Unit))
	return source{name: nextNName, many: func(calls int) (m made, _ error) {
		ctx := context.Background()
		var last int64
		for range calls {
			first, count, err := g.NextN(ctx, runLength)
			if err != nil {
				return made{}, err
			}
			m.ids, last = m.ids+count, first+int64(count)-1
		}
		m.last = last
		return m, nil
	}}, err
}

// granted is a generator with a grant for the whole run.
func granted(layout generator.Layout, now func() int64) (*generator.Generator, error) {
	g, err := generator.New(generator.Settings{Layout: layout, Now: now})
	if err != nil {
		return nil, err
	}
	return g, g.Grant(1, 0, layout.MaxTick())
}

// ticks is the simplest clock for a generator: milliseconds, which is the unit of both layouts here.
func ticks() func() int64 {
	start := time.Now()
	return func() int64 { return 1 + int64(time.Since(start)/time.Millisecond) }
}

// leased is the proxy's clock for its generator: the database's time, plus what has passed since.
func leased(unit time.Duration) func() int64 {
	c := lease.NewClock(unit)
	c.Observe(time.Since(generator.DefaultLayout().Epoch).Microseconds(), 0, c.Monotonic())
	return c.Now
}
