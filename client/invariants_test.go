package client

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestInvariant1EachIDIsGivenOnceToManyCallersSomeOfWhomLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var source counting
		p := pool(t, func(ctx context.Context, n int) ([]int64, error) {
			time.Sleep(time.Millisecond) // of the bubble
			return source.draw(ctx, n)
		}, Settings{MaxBatch: 64})
		var mu sync.Mutex
		seen := make(map[int64]int)
		var callers sync.WaitGroup
		for caller := range 32 {
			callers.Go(func() {
				for turn := range 100 {
					patience := time.Duration((caller*turn)%4+1) * time.Millisecond / 2
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					ids, _ := p.NextN(ctx, turn%5+1)
					cancel()
					mu.Lock()
					for _, id := range ids {
						seen[id]++
					}
					mu.Unlock()
				}
			})
		}
		callers.Wait()
		for id, times := range seen {
			if times != 1 {
				t.Errorf("ID %d was given %d times", id, times)
			}
		}
		if len(seen) < 1000 {
			t.Errorf("%d IDs were given; expected many more", len(seen))
		}
	})
}

// steered is a pool with clocks that a test sets.
func steered(t *testing.T, source Source, settings Settings) (*Pool, *reading) {
	t.Helper()
	p, now := pool(t, source, settings), &reading{wall: time.Unix(1_700_000_000, 0)}
	p.now = func() reading { return *now }
	return p, now
}

func TestInvariant2NoIDOfADrawThatBeganMoreThanMaxAgeAgo(t *testing.T) {
	for _, c := range []struct {
		clocks          string
		monotonic, wall time.Duration
		kept            bool
	}{
		{"both go on for MaxAge", time.Second, time.Second, true},
		{"both go on for longer", time.Second + 1, time.Second + 1, false},
		{"the machine slept, so one stood still", 0, time.Hour, false},
		{"the wall clock was set back a little", time.Second / 2, -time.Second / 2, true},
		{"the wall clock was set back by more", time.Second / 2, -2 * time.Second, false},
		{"the wall clock was set back by what has passed", 2 * time.Second, 0, false},
	} {
		t.Run(c.clocks, func(t *testing.T) {
			p, now := steered(t, new(counting).draw, Settings{MaxAge: time.Second})
			next(t, p)
			next(t, p) // of a draw of two
			now.monotonic += c.monotonic
			now.wall = now.wall.Add(c.wall)
			if id := next(t, p); (id == 3) != c.kept {
				t.Errorf("the next ID is %d; that the third one is kept: %v", id, c.kept)
			}
		})
	}
}

func TestInvariant2ADrawsAgeRunsFromBeforeItWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		p := pool(t, f.draw, Settings{MaxAge: time.Second})
		p.batch.size = 3
		first := call(t.Context(), p, 1)
		<-f.asked
		time.Sleep(2 * time.Second) // the answer takes this long
		f.answers <- answer{}
		(<-first).is(t, 1) // a waiting call gets the IDs of its draw, whatever their age
		second := call(t.Context(), p, 1)
		f.expect(t, 1, answer{})
		(<-second).is(t, 4)
	})
}

func TestInvariant3OneDrawAtATimeOfAtMostTenThousandIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		p := pool(t, f.draw, Settings{})
		first := call(t.Context(), p, 1)
		size := <-f.asked
		bulk := call(t.Context(), p, 25_000)
		synctest.Wait()
		select {
		case n := <-f.asked:
			t.Fatalf("a draw of %d IDs began beside one of %d", n, size)
		default:
		}
		f.answers <- answer{}
		(<-first).is(t, 1)
		for _, n := range []int{10_000, 10_000, 8_192} {
			f.expect(t, n, answer{})
		}
		if g := <-bulk; g.err != nil || len(g.ids) != 25_000 || g.ids[0] != 2 || g.ids[24_999] != 25_001 {
			t.Errorf("NextN(25000) gave %d IDs, %v", len(g.ids), g.err)
		}
	})
}

func TestInvariant4ACallerWhoseContextEndsLeavesAndTheDrawItBeganServesTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		p := pool(t, f.draw, Settings{})
		ctx, cancel := context.WithCancel(t.Context())
		impatient := call(ctx, p, 1)
		<-f.asked
		patient := call(t.Context(), p, 1)
		synctest.Wait()
		cancel()
		g := <-impatient
		if !errors.Is(g.err, context.Canceled) || !strings.Contains(g.err.Error(), "waiting for 1 ID") {
			t.Errorf("the caller that left was given %v, %v", g.ids, g.err)
		}
		f.answers <- answer{}
		(<-patient).is(t, 1)
	})
}

func TestInvariant4WhatADrawGivesAfterAllHaveLeftIsForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		p := pool(t, f.draw, Settings{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		alone := call(ctx, p, 2)
		<-f.asked
		if g := <-alone; !errors.Is(g.err, context.DeadlineExceeded) {
			t.Errorf("the caller was given %v, %v", g.ids, g.err)
		}
		f.answers <- answer{}
		synctest.Wait()
		(<-call(t.Context(), p, 2)).is(t, 1, 2)
	})
}

func TestInvariant4ACallerWhoseContextHasEndedTakesNothing(t *testing.T) {
	p := pool(t, new(counting).draw, Settings{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if id, err := p.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Next gave %d, %v", id, err)
	}
	if ids, err := p.NextN(ctx, 7); !errors.Is(err, context.Canceled) {
		t.Errorf("NextN gave %v, %v", ids, err)
	}
	if id := next(t, p); id != 1 {
		t.Errorf("the next ID is %d; expected 1", id)
	}
}

// If the IDs of a call are there when its context ends, the call gets them. They would be lost otherwise.
func TestInvariant4WhoIsServedAndCancelledAtOnceIsServed(t *testing.T) {
	p := pool(t, new(counting).draw, Settings{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := &request{ctx: ctx, want: 1, ids: []int64{9}, done: make(chan struct{})}
	close(r.done)
	for range 100 { // select chooses at random
		if ids, err := p.await(r); err != nil || !slices.Equal(ids, []int64{9}) {
			t.Fatalf("the call gave %v, %v; expected 9", ids, err)
		}
	}
}

func TestInvariant5AFailedDrawFailsAllWhoWaitAndTheNextCallTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		p := pool(t, f.draw, Settings{})
		away := errors.New("no route to the proxy")
		first := call(t.Context(), p, 1)
		<-f.asked
		second := call(t.Context(), p, 3)
		synctest.Wait()
		f.answers <- answer{err: away}
		f.expect(t, 1, answer{err: away}) // the second try
		for _, g := range []got{<-first, <-second} {
			if !errors.Is(g.err, away) || !strings.Contains(g.err.Error(), "drawing 1 ID failed twice") {
				t.Errorf("a call gave %v, %v", g.ids, g.err)
			}
		}
		third := call(t.Context(), p, 1)
		f.expect(t, 1, answer{})
		(<-third).is(t, 1)
	})
}

func TestInvariant5ADrawOverAConnectionThatWasLostIsTriedOnceMoreUnnoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		p := pool(t, f.draw, Settings{})
		waits := call(t.Context(), p, 1)
		f.expect(t, 1, answer{err: errors.New("unexpected EOF")})
		f.expect(t, 1, answer{})
		(<-waits).is(t, 1)
	})
}

func TestInvariant5ASourceThatGivesAnotherNumberOfIDsFailsTheDraw(t *testing.T) {
	for _, ids := range [][]int64{{}, {1}, {1, 2, 3}} {
		p := pool(t, func(context.Context, int) ([]int64, error) { return ids, nil }, Settings{})
		if got, err := p.NextN(t.Context(), 2); err == nil || !strings.Contains(err.Error(), "expected 2") {
			t.Errorf("with %d IDs of the source a call gave %v, %v", len(ids), got, err)
		}
	}
}

func TestInvariant5ASourceThatEndsItsGoroutineFailsTheDraw(t *testing.T) {
	p := pool(t, func(context.Context, int) ([]int64, error) { runtime.Goexit(); return nil, nil }, Settings{})
	if id, err := p.Next(t.Context()); err == nil {
		t.Errorf("Next gave %d", id)
	}
}

func TestInvariant6IDsComeInTheOrderInWhichTheyWereDrawnToCallersInTheOrderInWhichTheyCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		p := pool(t, f.draw, Settings{})
		var calls []<-chan got
		for _, n := range []int{1, 3, 2, 1} {
			calls = append(calls, call(t.Context(), p, n))
			synctest.Wait()
			if len(calls) == 1 {
				<-f.asked
			}
		}
		f.answers <- answer{}
		f.expect(t, 8, answer{}) // for six
		(<-calls[0]).is(t, 1)
		(<-calls[1]).is(t, 2, 3, 4)
		(<-calls[2]).is(t, 5, 6)
		(<-calls[3]).is(t, 7)
	})
}

func TestInvariant6TheIDsOfOneNextNRiseThoughItsDrawsWereAnsweredByTwoProxies(t *testing.T) {
	draws := [][]int64{{10, 11}, {5, 6, 7, 8}}
	p := pool(t, func(_ context.Context, n int) ([]int64, error) {
		ids := draws[0]
		draws = draws[1:]
		return ids, nil
	}, Settings{})
	p.batch.size = 2
	if id := next(t, p); id != 10 {
		t.Fatalf("the first ID is %d; expected 10", id)
	}
	ids, err := p.NextN(t.Context(), 3)
	got{ids, err}.is(t, 5, 6, 11)
}

func TestInvariant7ABusyProgramDrawsMoreAndMoreUpToMaxBatch(t *testing.T) {
	var source counting
	p, now := steered(t, source.draw, Settings{MaxBatch: 10})
	for range 40 {
		next(t, p)
		now.monotonic += time.Millisecond
		now.wall = now.wall.Add(time.Millisecond)
	}
	if expected := []int{1, 2, 4, 8, 10, 10, 10}; !slices.Equal(source.sizes, expected) {
		t.Errorf("draws of %v IDs; expected %v", source.sizes, expected)
	}
}

func TestInvariant7AProgramThatSlowsDownDrawsWhatItUses(t *testing.T) {
	var source counting
	p, now := steered(t, source.draw, Settings{MaxAge: time.Second})
	pass := func(d time.Duration) {
		now.monotonic += d
		now.wall = now.wall.Add(d)
	}
	for range 1 + 2 + 4 + 8 + 3 { // three of sixteen
		next(t, p)
	}
	for range 3 { // then one every two seconds
		pass(2 * time.Second)
		next(t, p)
	}
	if expected := []int{1, 2, 4, 8, 16, 4, 1, 1}; !slices.Equal(source.sizes, expected) {
		t.Errorf("draws of %v IDs; expected %v", source.sizes, expected)
	}
}

func TestInvariant7ASteadyProgramThrowsNothingAway(t *testing.T) {
	var source counting
	p, now := steered(t, source.draw, Settings{MaxAge: time.Second})
	const calls = 1000
	for range calls { // a hundred a second
		next(t, p)
		now.monotonic += 10 * time.Millisecond
		now.wall = now.wall.Add(10 * time.Millisecond)
	}
	if source.last-calls >= 32 || len(source.sizes) > 40 || slices.Max(source.sizes) != 32 {
		t.Errorf("%d IDs in draws of %v for %d calls", source.last, source.sizes, calls)
	}
}

func TestInvariant8NoGoroutineIsLeftWhenADrawHasEnded(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	p := pool(t, new(counting).draw, Settings{})
	for range 1000 {
		next(t, p)
	}
	if len(p.ids) == 0 {
		t.Error("the pool is empty; the test should leave IDs in it")
	}
}

func TestInvariant9ADrawThatNobodyAnswersEndsByItsTimeoutThoughAllHaveLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		p := pool(t, f.draw, Settings{Timeout: time.Minute})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		leaves := call(ctx, p, 1)
		<-f.asked
		<-leaves
		stays := call(t.Context(), p, 1)
		began := time.Now()
		g := <-stays
		if !errors.Is(g.err, context.DeadlineExceeded) || !strings.Contains(g.err.Error(), "longer than 1m0s") {
			t.Errorf("the call gave %v, %v", g.ids, g.err)
		}
		if waited := time.Since(began); waited != time.Minute-time.Second {
			t.Errorf("the draw ended after another %v; expected 59s", waited)
		}
	})
}
