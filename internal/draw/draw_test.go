package draw

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"pgflurry/generator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 50 * time.Millisecond

// stepped is a source that gives a run when the test says so, and tells what it was asked for.
type stepped struct {
	mu      sync.Mutex
	atOnce  atomic.Int64 // IDs that it gives without a step
	most    int          // that a draw has asked for at once
	asked   chan int
	give    chan error
	given   int64
	cleanUp chan struct{} // if not nil, a call whose context has ended returns after this
}

func newStepped() *stepped { return &stepped{asked: make(chan int, 1), give: make(chan error)} }

func (s *stepped) take(n int) (int64, int, error) {
	s.given += int64(n)
	return s.given - int64(n) + 1, n, nil
}

func (s *stepped) TryNextN(n int) (int64, int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = max(s.most, n)
	n = min(n, int(s.atOnce.Load()))
	s.atOnce.Add(-int64(n))
	return s.take(n)
}

func (s *stepped) NextN(ctx context.Context, n int) (int64, int, error) {
	s.asked <- n
	select {
	case err := <-s.give:
		if err != nil {
			return 0, 0, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.take(n)
	case <-ctx.Done():
		if s.cleanUp != nil {
			<-s.cleanUp
		}
		return 0, 0, ctx.Err()
	}
}

// drawn is a draw in the background.
type drawn struct {
	runs   Runs
	waited time.Duration
	err    error
	over   chan struct{}
}

// begin begins a draw, and returns when it waits or is over.
func begin(ctx context.Context, r *Queue, n int) *drawn {
	d := &drawn{over: make(chan struct{})}
	go func() {
		defer close(d.over)
		d.waited, d.err = r.Draw(ctx, patience, n, &d.runs)
	}()
	synctest.Wait()
	return d
}

func (d *drawn) isOver() bool {
	select {
	case <-d.over:
		return true
	default:
		return false
	}
}

// has is how many IDs were drawn.
func (d *drawn) has() (n int) {
	for _, r := range d.runs.all {
		n += r.Count
	}
	return n
}

func TestInvariant1ADrawOfOneIDWaitsForTheTurnUnderWayAndOthersHaveEveryOtherTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStepped()
		r := New(s, nil)
		all := []*drawn{begin(t.Context(), r, 600), begin(t.Context(), r, 300)}
		for n := 201; n <= 203; n++ {
			all = append(all, begin(t.Context(), r, n))
		}
		all = append(all, begin(t.Context(), r, 1), begin(t.Context(), r, 1))
		var turns []int
		for range 10 {
			turns = append(turns, <-s.asked)
			if s.atOnce.Store(1); !begin(t.Context(), r, 1).isOver() {
				t.Error("one ID is there, and a draw of one waits for others")
			}
			s.give <- nil
			synctest.Wait()
		}
		// 600 are 256, 256 and 88; 300 are 256 and 44.
		if want := []int{256, 1, 1, 201, 256, 202, 88, 203, 256, 44}; !slices.Equal(turns, want) {
			t.Errorf("the turns were %d; expected %d", turns, want)
		}
		for _, d := range all {
			if <-d.over; d.err != nil {
				t.Error(d.err)
			}
		}
	})
}

func TestInvariant2AReservationThatTheSourceCannotFillWithinPatienceDrawsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStepped()
		r := New(s, func(d time.Duration) int { return int(d / patience * 10_000) })
		first := begin(t.Context(), r, 9000)
		if d := begin(t.Context(), r, 1001); !d.isOver() || d.err != ErrLate || d.waited != 0 {
			t.Errorf("1001 after 9000 of 10000: over %v, %v", d.isOver(), d.err)
		}
		<-s.asked
		s.give <- nil
		synctest.Wait()
		all := []*drawn{begin(t.Context(), r, 1001), begin(t.Context(), r, Portion), begin(t.Context(), r, 1)}
		for _, d := range all {
			if d.isOver() {
				t.Errorf("%v, though a portion of the 9000 was drawn; expected that it waits", d.err)
			}
		}
		for all = append(all, first); slices.ContainsFunc(all, func(d *drawn) bool { return !d.isOver() }); {
			<-s.asked
			s.give <- nil
			synctest.Wait()
		}
		if r.owed != 0 || s.given != 9000+1001+Portion+1 {
			t.Errorf("%d IDs are owed and %d were given; expected none, and those of four draws", r.owed, s.given)
		}
		s.atOnce.Store(20_000)
		if d := begin(t.Context(), r, 10_001); d.err != ErrLate || s.atOnce.Load() != 20_000 {
			t.Errorf("10001 of 10000: %v, and %d were drawn", d.err, 20_000-s.atOnce.Load())
		}
		if d := begin(t.Context(), r, 10_000); d.err != nil || d.has() != 10_000 || r.owed != 0 || s.most != Portion {
			t.Errorf("10000 of 10000: %v, %d IDs, %d at once, and %d are owed", d.err, d.has(), s.most, r.owed)
		}
	})
}

func TestInvariant3ADrawThatIsLateHasLostAtMostAPortion(t *testing.T) {
	for name, c := range map[string]struct {
		n, atOnce int
		waits     time.Duration
	}{
		"one":                         {1, 0, patience},
		"a portion":                   {Portion, Portion - 1, patience},
		"a reservation":               {1000, Portion - 1, patience},
		"a reservation that is begun": {1000, Portion, patience + standstill}, // the source stands still
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStepped()
				s.atOnce.Store(int64(c.atOnce))
				r := New(s, nil)
				d := begin(t.Context(), r, c.n)
				if <-d.over; d.err != ErrLate || !errors.Is(d.err, context.DeadlineExceeded) || d.waited != c.waits {
					t.Errorf("%v after %v; expected %v after %v", d.err, d.waited, ErrLate, c.waits)
				}
				if d.has() != 0 || r.owed != 0 {
					t.Errorf("it leaves %d IDs, and %d are owed", d.has(), r.owed)
				}
			})
		})
	}
}

// On a starved machine the goroutine that serves may not run, and the source has IDs meanwhile.
func TestADrawWhoseTurnDidNotComeTakesWhatIsThereWhenItsTimeIsOver(t *testing.T) {
	for _, n := range []int{1, Portion} {
		synctest.Test(t, func(t *testing.T) {
			s := newStepped()
			q := New(s, nil)
			d := begin(t.Context(), q, n)
			<-s.asked // and nobody gives
			s.atOnce.Store(int64(n))
			if <-d.over; d.err != nil || d.has() != n || d.waited != patience {
				t.Errorf("%d of %d IDs after %v, %v; expected all after %v", d.has(), n, d.waited, d.err, patience)
			}
		})
	}
}

func TestABegunReservationIsFinishedAfterItsPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStepped()
		r := New(s, nil)
		d := begin(t.Context(), r, 1000)
		for range 4 {
			<-s.asked
			time.Sleep(patience - 1)
			s.give <- nil
			synctest.Wait()
		}
		if <-d.over; d.err != nil || d.has() != 1000 || d.waited != 4*(patience-1) {
			t.Errorf("%v, %d IDs after %v", d.err, d.has(), d.waited)
		}
	})
}

func TestADrawEndsWithItsContextAndTheNextOneHasItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStepped()
		r := New(s, nil)
		ctx, cancel := context.WithCancel(t.Context())
		gone := []*drawn{begin(ctx, r, 1000), begin(ctx, r, 2000)}
		stays := begin(t.Context(), r, 100)
		<-s.asked
		cancel()
		for _, d := range gone {
			if <-d.over; d.err != ErrLate || d.has() != 0 {
				t.Errorf("%v, and %d IDs", d.err, d.has())
			}
		}
		s.give <- nil // for the one that is gone
		if n := <-s.asked; n != 100 {
			t.Errorf("the next turn is for %d; expected 100", n)
		}
		s.give <- nil
		if <-stays.over; stays.err != nil || stays.runs.Take() != Portion+1 || r.owed != 0 {
			t.Errorf("%v, and %d IDs are owed", stays.err, r.owed)
		}
	})
}

func TestWhatTheSourceSaysIsSaidToAllThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStepped()
		r := New(s, nil)
		all := []*drawn{begin(t.Context(), r, 1000), begin(t.Context(), r, 100), begin(t.Context(), r, 1)}
		ended := errors.New("the grant has ended")
		<-s.asked
		s.give <- nil // a portion of the 1000
		for range all {
			<-s.asked
			s.give <- ended
		}
		for _, d := range all {
			if <-d.over; d.err != ended || d.has() != 0 {
				t.Errorf("%v, and %d IDs; expected %v", d.err, d.has(), ended)
			}
		}
		if r.owed != 0 {
			t.Errorf("%d IDs are owed", r.owed)
		}
	})
}

// tickingGenerator is a real generator, with the clock of synctest in a bubble.
func tickingGenerator(t testing.TB) *generator.Generator {
	start := time.Now()
	layout := generator.DefaultLayout()
	g, err := generator.New(generator.Settings{
		Layout: layout, Now: func() int64 { return 1 + int64(time.Since(start)/layout.Unit) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Grant(1, 0, layout.MaxTick()); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestOneIDIsThereWithinTheNextTickBesideAnyNumberOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := tickingGenerator(t)
		r := New(g, g.Has)
		ctx, cancel := context.WithCancel(t.Context())
		var declined, filled atomic.Int64
		var others sync.WaitGroup
		for i := range 100 {
			others.Go(func() {
				n := []int{Portion, 10_000, 100_000}[i%3]
				for runs := (Runs{}); ctx.Err() == nil; {
					if _, err := r.Draw(ctx, patience, n, &runs); err == nil {
						filled.Add(int64(n))
					} else if ctx.Err() == nil {
						declined.Add(1)
						time.Sleep(300 * time.Millisecond) // as long as PostgreSQL draws it
					}
				}
			})
		}
		for runs := (Runs{}); declined.Load() < 100 || filled.Load() < 1_000_000; time.Sleep(777 * time.Microsecond) {
			if waited, err := r.Draw(ctx, patience, 1, &runs); err != nil || waited > time.Millisecond {
				t.Errorf("%v after %v; expected one within a tick", err, waited)
			}
		}
		cancel()
		others.Wait()
	})
}

func TestInvariant4TheIDsOfADrawIncreaseAndNobodyGetsThoseOfADrawThatFailed(t *testing.T) {
	g := tickingGenerator(t)
	r := New(g, g.Has)
	const draws = 200
	var all [8][]int64
	var failed atomic.Int64
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() {
			dice := rand.New(rand.NewPCG(uint64(i), 1))
			var runs Runs
			for range draws {
				n := []int{1, 1 + dice.IntN(Portion), 1 + dice.IntN(20_000)}[dice.IntN(3)]
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(dice.IntN(int(4*time.Millisecond))))
				_, err := r.Draw(ctx, time.Duration(dice.IntN(int(2*time.Millisecond))), n, &runs)
				cancel()
				if err != nil {
					failed.Add(1)
					if n = 0; len(runs.all) > 0 {
						t.Errorf("a draw failed with %v and left %v", err, runs.all)
					}
				}
				for range n {
					all[i] = append(all[i], runs.Take())
				}
			}
		})
	}
	group.Wait()
	var ids []int64
	for _, own := range all {
		if !slices.IsSorted(own) {
			t.Error("the IDs of one who draws do not increase")
		}
		ids = append(ids, own...)
	}
	slices.Sort(ids)
	if n := len(ids); len(slices.Compact(ids)) != n || failed.Load() == 0 {
		t.Errorf("of %d IDs some came twice, or none of the draws failed (%d)", n, failed.Load())
	}
}

func TestInvariant6WhenNobodyWaitsThereIsNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStepped()
		s.cleanUp = make(chan struct{})
		r := New(s, nil)
		late := begin(t.Context(), r, 1)
		<-s.asked
		if <-late.over; late.err != ErrLate {
			t.Error(late.err)
		}
		// Its goroutine is late, and another one serves the next draw.
		next := begin(t.Context(), r, 2)
		if n := <-s.asked; n != 2 {
			t.Errorf("the source is asked for %d; expected 2", n)
		}
		close(s.cleanUp)
		synctest.Wait()
		if !r.serving.Load() {
			t.Error("the goroutine that was late has ended the other one")
		}
		s.give <- nil
		if <-next.over; next.err != nil || next.runs.Take() != 1 {
			t.Error(next.err)
		}
		synctest.Wait()
		if r.serving.Load() {
			t.Error("a goroutine serves, though nobody waits")
		}
	})
}
