package generator

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestSleeperWaitsAsLongAsAskedAndUsesItsTimersAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(sleeper)
		for _, d := range []time.Duration{time.Millisecond, time.Second, time.Microsecond} {
			begin := time.Now()
			if err := s.wait(t.Context(), d); err != nil || time.Since(begin) != d {
				t.Errorf("waited %v instead of %v, %v", time.Since(begin), d, err)
			}
		}
	})
}

func TestSleeperEndsWithItsContextAndTheNextWaitIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(sleeper)
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if err := s.wait(ctx, time.Second); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(begin) != 300*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		// The timer above is reused. Nothing of its first wait may end the second.
		time.Sleep(10 * time.Second)
		begin = time.Now()
		if err := s.wait(t.Context(), time.Minute); err != nil || time.Since(begin) != time.Minute {
			t.Errorf("waited %v instead of a minute, %v", time.Since(begin), err)
		}
	})
}

func TestADrawAtTheLimitWaitsForTheClockByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		layout := small()
		now := func() int64 { return 1000 + int64(time.Since(begin)/layout.Unit) }
		g, err := New(Settings{Layout: layout, Now: now, Random: func(uint32) uint32 { return 0 }})
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Grant(1, 0, 1<<30); err != nil {
			t.Fatal(err)
		}
		for i := range 4 * 100 {
			id, err := g.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if p, _ := layout.Decode(id); p.Tick != 1000+int64(i/4) {
				t.Fatalf("ID %d is in tick %d", i, p.Tick)
			}
		}
		if passed := time.Since(begin); passed != 99*layout.Unit {
			t.Errorf("100 ticks of IDs took %v, want %v", passed, 99*layout.Unit)
		}
	})
}

func TestAFullTickIsWaitedForInHalvesAUnitThenIDsGoOn(t *testing.T) {
	r := fresh(t)
	r.permit(3, 1000, 2000)
	r.fill()
	if p := r.one(); p.Tick != 1001 || p.Sequence != 0 {
		t.Errorf("got %+v", p)
	}
	half := r.layout.Unit / 2
	if len(r.waits) != 2 || r.waits[0] != half || r.waits[1] != half {
		t.Errorf("waited %v, want twice half a unit", r.waits)
	}
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	r := fresh(t)
	r.permit(3, 1000, 2000)
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err := r.Next(ctx); err != nil {
		t.Errorf("the context is asked although there is no wait: %v", err)
	}
	r.fill()
	if _, err := r.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
