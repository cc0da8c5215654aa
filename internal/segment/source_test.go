package segment

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestInvariant1SourcesAndTheFunctionNeverGiveANumberTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := newTable("order", "item")
		shared.delay = time.Millisecond
		var mu sync.Mutex
		seen := map[string]map[int64]bool{"order": {}, "item": {}}
		note := func(tag string, numbers []int64) {
			mu.Lock()
			defer mu.Unlock()
			for _, n := range numbers {
				if seen[tag][n] {
					t.Errorf("%s %d came twice", tag, n)
				}
				seen[tag][n] = true
			}
		}
		var callers sync.WaitGroup
		for range 3 {
			r := start(t, shared)
			defer r.stop()
			for i := range 4 {
				tag := []string{"order", "item"}[i%2]
				callers.Go(func() {
					for j := range 300 {
						numbers, err := r.draw(tag, 1+(i+j)%700)
						if err != nil {
							t.Error(err)
						}
						note(tag, numbers)
						time.Sleep(time.Duration(j%3) * time.Millisecond)
					}
				})
			}
		}
		callers.Go(func() { // the function
			for range 500 {
				shared.do(func() {
					row := shared.rows["order"]
					note("order", []int64{row.next})
					row.next++
				})
				time.Sleep(time.Millisecond)
			}
		})
		callers.Wait()
	})
}

func TestInvariant2ALostAnswerGivesNothingAndItsBlockIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		of.lose = 1
		r := start(t, of)
		defer r.stop()
		if _, err := r.draw("order", 1); !errors.Is(err, ErrResting) {
			t.Errorf("error %v, expected %v", err, ErrResting)
		}
		time.Sleep(time.Second)
		if got := r.mustDraw("order", 1); got[0] != 2001 {
			t.Errorf("the first number is %d; the block of 1 to 2000 is of unknown fate", got[0])
		}
		if st := r.Stats(); st[0].Unknown != 1 || st[0].Fetches != 2 {
			t.Errorf("counted as %+v", st)
		}
		if !strings.Contains(r.log.String(), "no block could be fetched") ||
			!strings.Contains(r.log.String(), "fetched again") {
			t.Errorf("the log says nothing of it:\n%s", r.log)
		}
	})
}

func TestInvariant2ARestartSkipsTheRestAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		r := start(t, of)
		r.mustDraw("order", 7)
		r.stop()
		if st := r.Stats(); st[0].Skipped != 1993 || st[0].Left != 0 || st[0].Given != 7 {
			t.Errorf("counted as %+v", st)
		}
		if !strings.Contains(r.log.String(), "skipped=1993") {
			t.Errorf("the log does not tell:\n%s", r.log)
		}
		r = start(t, of)
		defer r.stop()
		if got := r.mustDraw("order", 1); got[0] != 2001 {
			t.Errorf("after a restart it goes on at %d, expected 2001", got[0])
		}
	})
}

func TestInvariant2ABlockThatIsOnItsWayAtTheEndIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		r := start(t, of)
		r.mustDraw("order", 1)
		of.do(func() { of.delay = time.Second })
		r.mustDraw("order", 199) // a tenth is used: fetches
		synctest.Wait()
		r.stop()
		if st := r.Stats()[0]; st.Skipped != 3800 || st.Unknown != 0 {
			t.Errorf("counted as %+v; expected 1800 and the 2000 of the fetch as skipped", st)
		}
	})
}

func TestInvariant3OneCallMaySpanBlocksAndItsNumbersIncrease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		r := start(t, of)
		defer r.stop()
		r.mustDraw("order", 1995)
		synctest.Wait() // the next block is ahead
		of.do(func() { of.rows["order"].next += 10 })
		got := slices.Concat(r.mustDraw("order", 10), r.mustDraw("order", 10_000))
		if len(got) != 10_010 || !slices.IsSorted(got) || got[4] != 2000 || got[5] != 2001 {
			t.Errorf("got %d numbers from %v", len(got), got[:12])
		}
	})
}

func TestInvariant6ACallerWaitsUntilItsDeadlineAndNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order", "item")
		of.delay = patience / 2
		r := start(t, of)
		defer r.stop()
		begin := time.Now()
		r.mustDraw("order", 1)
		if waited := time.Since(begin); waited != of.delay {
			t.Errorf("a caller waited %v for a fetch of %v", waited, of.delay)
		}
		of.do(func() { of.delay = time.Second })
		begin = time.Now()
		if _, err := r.draw("item", 1); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != patience {
			t.Errorf("error %v after %v, expected to give up after %v", err, time.Since(begin), patience)
		}
		// Nobody else is held up meanwhile.
		begin = time.Now()
		r.mustDraw("order", 100)
		if _, count, err := r.TryNextN([]byte("item"), 1); count != 0 || err != nil {
			t.Errorf("%d numbers, error %v while a fetch is under way", count, err)
		}
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("others waited %v", waited)
		}
		time.Sleep(time.Second)
		if _, count, err := r.TryNextN([]byte("item"), 1); count != 1 || err != nil {
			t.Errorf("%d numbers, error %v once the fetch is over", count, err)
		}
	})
}

func TestWhileADatabaseIsAwayWhatIsInMemoryIsGivenAndThenCallersAreToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		r := start(t, of)
		defer r.stop()
		r.mustDraw("order", 1)
		of.do(func() { of.down = true })
		time.Sleep(5 * time.Minute) // refreshes fail too
		r.mustDraw("order", 1999)
		if _, err := r.draw("order", 1); !errors.Is(err, ErrResting) {
			t.Errorf("error %v, expected %v", err, ErrResting)
		}
		begin := time.Now()
		for range 100 {
			if _, err := r.draw("order", 1); !errors.Is(err, ErrResting) {
				t.Errorf("error %v, expected %v", err, ErrResting)
			}
		}
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("callers waited %v though nothing was under way", waited)
		}
		of.do(func() { of.down = false })
		time.Sleep(longestRest)
		r.mustDraw("order", 1)
		if n := strings.Count(r.log.String(), "no block could be fetched"); n != 1 {
			t.Errorf("one failure was logged %d times:\n%s", n, r.log)
		}
	})
}

func TestInvariant7TagsAreFoundAtOnceAndRemovedOnesStopWithinAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		r := start(t, of)
		defer r.stop()
		r.mustDraw("order", 10)
		if _, err := r.draw("item", 1); !errors.Is(err, ErrUnknownTag) {
			t.Errorf("error %v, expected %v", err, ErrUnknownTag)
		}
		of.do(func() { of.rows["item"] = &counter{next: 1, step: 2000}; delete(of.rows, "order") })
		if _, err := r.draw("item", 1); !errors.Is(err, ErrUnknownTag) { // its last answer is less than a second old
			t.Errorf("error %v, expected %v", err, ErrUnknownTag)
		}
		time.Sleep(unknownRest)
		r.mustDraw("item", 1)
		r.mustDraw("order", 1) // not noticed yet
		time.Sleep(refreshEvery)
		if _, err := r.draw("order", 1); !errors.Is(err, ErrUnknownTag) {
			t.Errorf("a tag that was removed a minute ago gives: error %v, expected %v", err, ErrUnknownTag)
		}
		if !strings.Contains(r.log.String(), "the tag was removed") ||
			!strings.Contains(r.log.String(), "skipped=1989") {
			t.Errorf("the log does not tell:\n%s", r.log)
		}
		of.do(func() { of.rows["order"] = &counter{next: 5, step: 10} })
		time.Sleep(unknownRest)
		if got := r.mustDraw("order", 1); got[0] != 5 {
			t.Errorf("the tag was made anew with 5, and begins at %d", got[0])
		}
	})
}

func TestAFetchThatFindsTheTagRemovedStopsItAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		r := start(t, of)
		defer r.stop()
		r.mustDraw("order", 1)
		of.do(func() { delete(of.rows, "order") })
		r.mustDraw("order", 300) // a tenth is used: fetches
		synctest.Wait()
		if _, err := r.draw("order", 1); !errors.Is(err, ErrUnknownTag) {
			t.Errorf("error %v, expected %v", err, ErrUnknownTag)
		}
	})
}

func TestInvariant8ARefreshThatFindsTheRowFallenBackRaisesItAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		r := start(t, of)
		defer r.stop()
		r.mustDraw("order", 1)
		of.do(func() { of.rows["order"].next = 1 })
		time.Sleep(refreshEvery)
		synctest.Wait()
		of.do(func() {
			if next := of.rows["order"].next; next != 4001 {
				t.Errorf("the row says %d, expected 4001", next)
			}
		})
		if got := r.mustDraw("order", 1); got[0] != 2001 {
			t.Errorf("goes on at %d, expected 2001", got[0])
		}
		if !strings.Contains(r.log.String(), "lost a commit") {
			t.Errorf("the log does not tell:\n%s", r.log)
		}
	})
}

// The first fetch that could notice loses its answer. If it had also raised the row, the loss would stay unnoticed.
func TestInvariant8AFallBackIsNoticedThoughTheAnswerOfAFetchWasLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		r := start(t, of)
		defer r.stop()
		r.mustDraw("order", 1)
		of.do(func() { of.rows["order"].next, of.lose = 1, 1 })
		r.mustDraw("order", 199) // a tenth is used: fetches
		synctest.Wait()
		of.do(func() { of.rows["order"].next += 500 }) // the function gives 1 to 500
		time.Sleep(time.Second)
		r.mustDraw("order", 1) // fetches again
		synctest.Wait()
		of.do(func() { // other callers cannot get what was given
			if next := of.rows["order"].next; next != 4001 {
				t.Errorf("the row says %d, expected 4001", next)
			}
		})
		if got := r.mustDraw("order", 1); got[0] != 2001 {
			t.Errorf("goes on at %d, which the function may have given; expected 2001", got[0])
		}
	})
}

func TestInvariant8ARefreshThatAFetchHasOvertakenIsNoFallBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		of.late = time.Second
		r := start(t, of)
		defer r.stop()
		r.mustDraw("order", 1)
		time.Sleep(refreshEvery + of.late/2) // the rows are read and on their way
		r.mustDraw("order", 300)             // fetches
		time.Sleep(of.late)
		if got := r.mustDraw("order", 1); got[0] != 302 {
			t.Errorf("goes on at %d, expected 302", got[0])
		}
	})
}

func TestInvariant7ARefreshThatAFetchHasOvertakenRemovesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		of.late = time.Second
		r := start(t, of)
		defer r.stop()
		r.mustDraw("order", 1)
		of.do(func() { delete(of.rows, "order") })
		time.Sleep(refreshEvery + of.late/2)
		of.do(func() { of.rows["order"] = &counter{next: 2001, step: 2000} })
		r.mustDraw("order", 300)
		time.Sleep(of.late)
		if got := r.mustDraw("order", 1); got[0] != 302 {
			t.Errorf("goes on at %d, expected 302", got[0])
		}
	})
}

func TestInvariant9AfterRunNothingIsGivenAndNoConnectionIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order", "slow")
		r := start(t, of)
		r.mustDraw("order", 1)
		of.do(func() { of.delay = time.Hour })
		waiting := make(chan error)
		go func() {
			_, _, err := r.NextN(context.Background(), []byte("slow"), 1)
			waiting <- err
		}()
		synctest.Wait()
		r.stop()
		if err := <-waiting; err == nil {
			t.Error("a caller got a number after the end")
		}
		for _, tag := range []string{"order", "slow", "new"} {
			if _, count, err := r.TryNextN([]byte(tag), 1); count != 0 || !errors.Is(err, ErrEnded) {
				t.Errorf("%s: %d numbers, error %v; expected %v", tag, count, err, ErrEnded)
			}
		}
		if connections, _ := of.used(); connections != 0 {
			t.Errorf("%d connections are open", connections)
		}
	})
}
