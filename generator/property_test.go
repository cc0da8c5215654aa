package generator

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// history is a rig and the actions of the other processes: the marks of all workers, as the lease would keep them.
type history struct {
	*rig
	rapid  *rapid.T
	marks  []int64 // by worker: no process has issued an ID at or after it
	sealed bool
}

func TestInvariantsHoldInAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		layout := DefaultLayout()
		layout.TimestampBits = 28
		layout.DatacenterBits = rapid.IntRange(0, 2).Draw(t, "datacenter bits")
		layout.WorkerBits = rapid.IntRange(1, 2).Draw(t, "worker bits")
		layout.SequenceBits = rapid.IntRange(1, 4).Draw(t, "sequence bits")
		layout.Unit = rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second}).Draw(t, "unit")
		h := &history{rig: newRig(t, layout), rapid: t, marks: make([]int64, layout.Workers())}
		h.start = func(limit uint32) uint32 { return rapid.Uint32Range(0, limit-1).Draw(t, "first sequence") }
		h.lagging = func() time.Duration { return h.ticks("late", 0, 8) }
		begin := rapid.SampledFrom([]int64{0, 1_000_000, layout.MaxTick() - 40}).Draw(t, "begin")
		h.at(begin)
		for worker := range h.marks {
			h.marks[worker] = begin
		}
		t.Repeat(map[string]func(*rapid.T){
			"draw":                     func(*rapid.T) { h.try1() },
			"a burst":                  func(*rapid.T) { h.burst() },
			"draw and wait":            func(*rapid.T) { h.drawOrWait() },
			"draw one by Next":         func(*rapid.T) { h.nexts() },
			"draw in a race":           func(*rapid.T) { h.race() },
			"time passes":              func(*rapid.T) { h.elapsed += h.ticks("time", 0, 3) },
			"a pause":                  func(*rapid.T) { h.elapsed += h.ticks("pause", 4, 30) },
			"renew":                    func(*rapid.T) { h.renew() },
			"acquire":                  func(*rapid.T) { h.acquire() },
			"another holder":           func(*rapid.T) { h.other() },
			"the clock steps back":     func(*rapid.T) { h.stepBack() },
			"seal, one time in twenty": func(*rapid.T) { h.seal() },
		})
	})
}

func (h *history) int(label string, least, top int) int {
	return rapid.IntRange(least, top).Draw(h.rapid, label)
}

// ticks returns the duration of so many ticks and a part of one.
func (h *history) ticks(label string, least, top int) time.Duration {
	return time.Duration(h.int(label+" in quarter ticks", 4*least, 4*top)) * h.layout.Unit / 4
}

func (h *history) try1() {
	before := h.parts(h.last)
	count, err := h.try(h.int("n", 1, 40))
	h.check(err)
	if count > 0 || err != nil {
		return
	}
	// A count of 0 must have one of the reasons of TryNextN.
	full := before.Sequence == h.layout.MaxSequence() || before.Worker != h.worker || before.Tick == 0
	if h.clock() >= h.now.from && !(before.Tick >= h.clock() && full) {
		h.t.Fatalf("no ID at tick %d after %+v, with worker %d granted for %v", h.clock(), before, h.worker, *h.now)
	}
}

func (h *history) burst() {
	for range h.int("draws", 2, 12) {
		h.try1()
	}
}

func (h *history) drawOrWait() {
	_, _, err := h.draw(context.Background(), h.int("n", 1, 40))
	h.check(err)
}

func (h *history) nexts() {
	for range h.int("calls", 1, 12) {
		h.check(h.next(context.Background()))
	}
}

// check compares an error with the known state of the generator.
func (h *history) check(err error) {
	end := h.layout.MaxTick() + 1
	switch {
	case err == nil && (h.sealed || h.now == nil):
		// Without a grant and after Seal there must be an error, even if no ID came.
		h.t.Fatalf("invariants 4 and 5: no error, although sealed %t, grant %v", h.sealed, h.now)
	case err == nil:
	case errors.Is(err, ErrSealed):
		if !h.sealed {
			h.t.Fatalf("%v, but nobody has sealed it", err)
		}
	case errors.Is(err, ErrNoGrant):
		if h.now != nil {
			h.t.Fatalf("%v, but there is %v", err, *h.now)
		}
	case errors.Is(err, ErrEndOfTime):
		if h.clock() < end {
			h.t.Fatalf("%v at tick %d of %d", err, h.clock(), end)
		}
	case errors.Is(err, ErrGrantEnded):
		if h.clock() < h.now.until {
			h.t.Fatalf("%v at tick %d, until %d", err, h.clock(), h.now.until)
		}
	default:
		h.t.Fatalf("unexpected: %v", err)
	}
}

// race draws while another goroutine acts at one of the two critical moments.
func (h *history) race() {
	others := []func(){h.try1, h.renew, h.acquire, h.seal, func() { h.elapsed += h.ticks("meanwhile", 0, 7) }}
	meanwhile := others[h.int("who else", 0, len(others)-1)]
	if h.int("moment", 0, 1) == 0 {
		h.beforeNow = meanwhile
	} else {
		h.beforeSwap = meanwhile
	}
	before := h.sealed
	var err error
	if h.int("by Next", 0, 1) == 1 {
		err = h.next(context.Background())
	} else {
		_, err = h.try(h.int("n", 1, 40))
	}
	h.beforeNow, h.beforeSwap = nil, nil
	if err == nil && before {
		h.t.Fatalf("invariant 5: no error after Seal")
	}
}

// renew extends the grant and the row's mark, if no other process has had the worker meanwhile.
func (h *history) renew() {
	if h.now == nil || h.sealed || h.marks[h.worker] != h.now.until {
		return
	}
	until := max(h.now.until, h.clock()) + int64(h.int("longer", 1, 100))
	h.take(h.worker, h.now.from, until)
}

// acquire takes any worker, at its mark or now, whichever is later. The mark may be ahead of this node's clock.
func (h *history) acquire() {
	if h.sealed {
		return
	}
	worker := h.int("worker", 0, h.layout.Workers()-1)
	from := max(h.marks[worker], h.clock(), 0)
	h.take(worker, from, from+int64(h.int("window", 1, 100)))
}

func (h *history) take(worker int, from, until int64) {
	if from > h.layout.MaxTick() {
		return
	}
	h.marks[worker] = until
	h.permit(worker, from, until)
}

// other lets another process have a worker for a while, after its mark.
func (h *history) other() {
	h.marks[h.int("worker", 0, h.layout.Workers()-1)] += int64(h.int("other's window", 1, 10))
}

func (h *history) stepBack() {
	if h.int("really", 0, 9) == 0 {
		h.elapsed = max(0, h.elapsed-h.ticks("back", 1, 20))
	}
}

func (h *history) seal() {
	if h.int("really", 0, 19) == 0 {
		h.Seal()
		h.sealed = true
	}
}
