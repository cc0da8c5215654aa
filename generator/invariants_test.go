package generator

import (
	"errors"
	"slices"
	"testing"
	"time"
)

func TestInvariant1IDsStrictlyIncreaseWhenTheClockStepsBack(t *testing.T) {
	r := fresh(t)
	r.permit(3, 900, 2000)
	r.one()
	for _, tick := range []int64{999, 950, 900, 100, 0, 1001, 990} {
		r.at(tick)
		for range 3 {
			r.try(3)
		}
	}
}

func TestInvariant1IDsStrictlyIncreaseWhenASmallerWorkerTakesOver(t *testing.T) {
	r := fresh(t)
	r.permit(5, 1000, 2000)
	r.one()
	r.permit(2, 1000, 2000)
	if count, err := r.try(1); count != 0 || err != nil {
		t.Fatalf("%d IDs of worker 2 in a tick that worker 5 has used, %v", count, err)
	}
	if p := r.one(); p.Tick != 1001 || p.Worker != 2 {
		t.Errorf("got %+v, want worker 2 in tick 1001", p)
	}
	// A larger worker waits as well: the ID alone does not show that worker 2 has the rest of the tick.
	r.permit(7, 1000, 2000)
	if count, _ := r.try(1); count != 0 {
		t.Errorf("worker 7 went on in the tick of worker 2")
	}
}

func TestInvariant1TheLoserOfARaceStartsOver(t *testing.T) {
	r := fresh(t)
	r.permit(3, 1000, 2000)
	r.beforeSwap = func() { r.one() }
	if p := r.one(); p.Tick != 1000 || p.Sequence != 1 {
		t.Errorf("got %+v, want sequence 1 after the winner's 0", p)
	}
}

func TestInvariant2AWorkerThatTheLayoutLacksIsRefused(t *testing.T) {
	r := fresh(t)
	for _, worker := range []int{-1, 8, 1 << 20} {
		if err := r.Grant(worker, 1000, 2000); err == nil {
			t.Errorf("worker %d was granted: its bits would run into the timestamp", worker)
		}
	}
	if _, err := r.try(1); !errors.Is(err, ErrNoGrant) {
		t.Errorf("a refused grant left %v", err)
	}
}

func TestInvariant3NoTickAtOrAfterUntil(t *testing.T) {
	r := fresh(t)
	r.permit(3, 1000, 1002)
	r.at(1001)
	if got := r.fill(); got != 4 {
		t.Fatalf("%d IDs in the last tick, want 4", got)
	}
	r.at(1002)
	_, err := r.try(1)
	var ended *grantEnded
	if !errors.Is(err, ErrGrantEnded) || !errors.As(err, &ended) ||
		*ended != (grantEnded{worker: 3, until: 1002, tick: 1002}) {
		t.Fatalf("got %v", err)
	}
	r.permit(3, 1000, 1003)
	r.one()
}

func TestInvariant3NoTickBeforeFrom(t *testing.T) {
	r := fresh(t)
	r.permit(3, 1005, 2000)
	if count, err := r.try(1); count != 0 || err != nil {
		t.Fatalf("%d IDs before the grant begins, %v", count, err)
	}
	if p := r.one(); p.Tick != 1005 || r.clock() != 1005 {
		t.Errorf("tick %d at %d, want both 1005", p.Tick, r.clock())
	}
	unit := r.layout.Unit
	if want := []time.Duration{unit, unit, unit, unit, unit / 2, unit / 2}; !slices.Equal(r.waits, want) {
		t.Errorf("waited %v, want %v", r.waits, want)
	}
}

func TestInvariant3AGrantThatComesBackWithAGapLeavesTheGapAlone(t *testing.T) {
	// Another process had worker 3 from 1002 to 1004. So a tick before 1002 is neither continued nor followed up.
	for name, tick := range map[string]int64{"in the middle of a tick": 1000, "at the end of a tick": 1001} {
		t.Run(name, func(t *testing.T) {
			r := fresh(t)
			r.permit(3, 990, 1002)
			r.at(999)
			r.fill()
			r.at(tick)
			r.try(1) // tick 1000, by overflow
			if tick == 1001 {
				r.fill()
			}
			r.at(1003)
			r.permit(3, 1004, 2000)
			r.grants[3] = []span{{1004, 2000}}
			if count, err := r.try(1); count != 0 || err != nil {
				t.Fatalf("%d IDs in the gap, %v", count, err)
			}
			r.at(1004)
			if p := r.one(); p.Tick != 1004 {
				t.Errorf("tick %d, want 1004", p.Tick)
			}
		})
	}
}

func TestInvariant3TheShortWayOfNextLeavesAGapAlone(t *testing.T) {
	// The clock still shows 1000; the rest of that tick belongs to the old grant.
	r := fresh(t)
	r.permit(3, 990, 1001)
	if err := r.next(background); err != nil {
		t.Fatal(err)
	}
	r.permit(3, 1004, 2000)
	if err := r.next(background); err != nil || r.parts(r.last).Tick != 1004 {
		t.Errorf("got %+v, %v, want tick 1004", r.parts(r.last), err)
	}
}

func TestInvariant3ADrawThatStillHoldsTheOldGrantStaysInsideIt(t *testing.T) {
	// After the draw has loaded the grant, the worker changes and another draw is faster. Then the clock advances.
	for _, test := range []struct {
		name       string
		tick       int64
		wantWorker int
	}{
		{"inside the old grant", 1001, 5},
		{"past the old grant", 1002, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := fresh(t)
			r.permit(5, 1000, 1002)
			r.beforeNow = func() {
				r.permit(2, 1000, 2000)
				r.one()
				r.at(test.tick)
			}
			if p := r.one(); p.Tick != test.tick || p.Worker != test.wantWorker {
				t.Errorf("got %+v, want worker %d in tick %d", p, test.wantWorker, test.tick)
			}
		})
	}
}

func TestInvariant3ADrawThatHoldsAnOldGrantGetsTheExtension(t *testing.T) {
	r := fresh(t)
	r.permit(3, 1000, 1002)
	r.beforeNow = func() {
		r.permit(3, 1000, 2000)
		r.at(1500)
		r.one() // the state is now beyond the grant that the draw holds
	}
	if p := r.one(); p.Tick != 1500 {
		t.Errorf("got %+v", p)
	}
}

func TestInvariant4NoIDWithoutAGrant(t *testing.T) {
	r := fresh(t)
	if _, err := r.Next(background); !errors.Is(err, ErrNoGrant) {
		t.Errorf("Next: %v", err)
	}
	if _, _, err := r.NextN(background, 10); !errors.Is(err, ErrNoGrant) {
		t.Errorf("NextN: %v", err)
	}
	if _, _, err := r.TryNextN(10); !errors.Is(err, ErrNoGrant) {
		t.Errorf("TryNextN: %v", err)
	}
	for name, err := range map[string]error{
		"negative from":     r.Grant(1, -1, 5),
		"empty":             r.Grant(1, 5, 5),
		"until before from": r.Grant(1, 6, 5),
	} {
		if err == nil {
			t.Errorf("%s: granted", name)
		}
	}
	if _, err := r.try(1); !errors.Is(err, ErrNoGrant) {
		t.Errorf("a refused grant left %v", err)
	}
}

func TestInvariant4AGrantCannotBeShortened(t *testing.T) {
	r := fresh(t)
	r.permit(3, 1000, 2000)
	if err := r.Grant(3, 1000, 1999); err == nil {
		t.Error("shortened: draws under way may be beyond the new end")
	}
	r.permit(3, 1000, 2000)
	r.permit(4, 1000, 1500) // another worker's grant has its own end
}

func TestInvariant5NothingIsIssuedAfterSeal(t *testing.T) {
	// At whatever point a draw is when Seal returns: if its ID was not issued before, it never is.
	for name, at := range map[string]func(r *rig, seal func()){
		"before the draw":                       func(r *rig, seal func()) { seal() },
		"after the grant was read":              func(r *rig, seal func()) { r.beforeNow = seal },
		"between reading the state and to swap": func(r *rig, seal func()) { r.beforeSwap = seal },
	} {
		t.Run(name, func(t *testing.T) {
			r := fresh(t)
			r.permit(3, 1000, 2000)
			at(r, r.Seal)
			if first, count, err := r.TryNextN(5); count != 0 || !errors.Is(err, ErrSealed) {
				t.Fatalf("%d IDs from %d, %v", count, first, err)
			}
			if err := r.Grant(3, 1000, 3000); !errors.Is(err, ErrSealed) {
				t.Errorf("granted after Seal: %v", err)
			}
			r.at(1500)
			if _, err := r.Next(background); !errors.Is(err, ErrSealed) {
				t.Errorf("Next: %v", err)
			}
		})
	}
}

func TestInvariant5AWaitingDrawLearnsOfSealWithinAUnit(t *testing.T) {
	r := fresh(t)
	r.permit(3, 5000, 6000)
	r.lagging = func() time.Duration { r.Seal(); return 0 }
	if _, err := r.Next(background); !errors.Is(err, ErrSealed) {
		t.Fatalf("got %v", err)
	}
	if len(r.waits) != 1 || r.waits[0] > r.layout.Unit {
		t.Errorf("waited %v", r.waits)
	}
}

func TestInvariant8AtTheEndOfTimeThereAreNoIDs(t *testing.T) {
	r := fresh(t)
	end := r.layout.MaxTick() + 1
	r.permit(7, end-10, end+1_000_000)
	r.at(end - 1)
	if p := r.one(); p.Tick != end-1 {
		t.Fatalf("got %+v", p)
	}
	r.fill()
	if _, err := r.Next(background); !errors.Is(err, ErrEndOfTime) {
		t.Errorf("after the last tick: %v", err)
	}
	r.at(end + 100)
	if _, err := r.try(1); !errors.Is(err, ErrEndOfTime) {
		t.Errorf("later: %v", err)
	}
	if err := r.Grant(7, end, end+5); !errors.Is(err, ErrEndOfTime) {
		t.Errorf("a grant after the end: %v", err)
	}
}

func TestInvariant8TheLastIDOfAll63BitsIsIssuedAndNothingAfterIt(t *testing.T) {
	layout := DefaultLayout()
	r := newRig(t, layout)
	end := layout.MaxTick() + 1
	r.permit(layout.Workers()-1, end-10, end)
	r.at(end - 2)
	r.fill()
	r.at(end - 1)
	r.fill()
	if r.last != 1<<63-1 {
		t.Errorf("the last ID is %d, want %d", r.last, int64(1<<63-1))
	}
	r.at(end)
	if _, _, err := r.TryNextN(1); err == nil {
		t.Error("an ID after the last one")
	}
}

func TestInvariant9DrawingAllocatesNothing(t *testing.T) {
	start := time.Now()
	g, err := New(Settings{Layout: DefaultLayout(), Now: func() int64 {
		return 1 + int64(time.Since(start)/time.Millisecond)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Grant(7, 0, 1<<40); err != nil {
		t.Fatal(err)
	}
	// 10,000 IDs are more than two ticks have, so the waits are in it, too.
	for name, draw := range map[string]func() error{
		"Next":     func() error { _, err := g.Next(background); return err },
		"NextN":    func() error { _, _, err := g.NextN(background, 100); return err },
		"TryNextN": func() error { _, _, err := g.TryNextN(100); return err },
	} {
		failed := error(nil)
		allocations := testing.AllocsPerRun(10_000, func() {
			if err := draw(); err != nil {
				failed = err
			}
		})
		if allocations != 0 || failed != nil {
			t.Errorf("%s: %v allocations a call, error %v", name, allocations, failed)
		}
	}
}

func TestInvariant9TryNextNNeverWaits(t *testing.T) {
	r := fresh(t)
	r.permit(3, 1000, 2000)
	r.fill()
	if count, err := r.try(1); count != 0 || err != nil || len(r.waits) != 0 {
		t.Errorf("%d IDs, %v, waits %v", count, err, r.waits)
	}
}
