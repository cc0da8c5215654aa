package generator

import "testing"

func TestInvariant6ABurstIsCaughtUpAtMostFiveTicksBehindTheClock(t *testing.T) {
	r := fresh(t)
	r.permit(3, 900, 2000)
	r.fill()   // tick 1000
	r.at(1005) // the timer was late
	var ticks []int64
	for range 5 {
		p := r.one()
		ticks = append(ticks, p.Tick)
		if p.Sequence != 0 {
			t.Errorf("tick %d entered by overflow begins with %d", p.Tick, p.Sequence)
		}
		for range 3 {
			r.one()
		}
	}
	for i, tick := range ticks {
		if want := int64(1001 + i); tick != want {
			t.Errorf("ticks %v, want 1001 to 1005", ticks)
			break
		}
	}
	if count, _ := r.try(1); count != 0 {
		t.Error("an ID ahead of the clock")
	}
}

func TestInvariant6ALagOfMoreThanFiveTicksJumpsToTheClock(t *testing.T) {
	r := fresh(t)
	r.permit(3, 900, 2000)
	r.fill()
	r.at(1006)
	if p := r.one(); p.Tick != 1001 {
		t.Errorf("tick %d, want 1001, five behind", p.Tick)
	}
	r.at(1007)
	if p := r.one(); p.Tick != 1007 {
		t.Errorf("tick %d, want 1007: 1001 is six behind, though not full", p.Tick)
	}
	r.fill()
	r.at(1014)
	if p := r.one(); p.Tick != 1014 {
		t.Errorf("tick %d, want 1014: 1008 is six behind", p.Tick)
	}
}

func TestInvariant6ATickThatWasNotEnteredByOverflowIsLeftWithTheClock(t *testing.T) {
	r := fresh(t)
	r.permit(3, 900, 2000)
	r.one()
	r.at(1001)
	if p := r.one(); p.Tick != 1001 {
		t.Errorf("tick %d, want 1001", p.Tick)
	}
}

func TestInvariant6BeforeTheClockIsKnownThereAreNoIDs(t *testing.T) {
	r := fresh(t)
	r.permit(0, 0, 2000)
	r.at(-1)
	if count, err := r.try(1); count != 0 || err != nil {
		t.Errorf("%d IDs, %v", count, err)
	}
	if p := r.one(); p.Tick != 1 {
		t.Errorf("the first ID has tick %d, want 1", p.Tick)
	}
}

func TestInvariant7ARunEndsWithItsTick(t *testing.T) {
	r := fresh(t)
	r.permit(3, 900, 2000)
	r.one()
	if _, count, err := r.draw(background, 10); count != 3 || err != nil {
		t.Errorf("%d IDs, %v; want the 3 that the tick has left", count, err)
	}
	if _, count, err := r.draw(background, 10); count != 4 || err != nil {
		t.Errorf("%d IDs, %v; want the 4 of the next tick", count, err)
	}
	for _, n := range []int{0, -1} {
		before := r.state.Load()
		if _, _, err := r.TryNextN(n); err == nil || r.state.Load() != before {
			t.Errorf("%d IDs: %v, state %x after %x", n, err, r.state.Load(), before)
		}
	}
}
