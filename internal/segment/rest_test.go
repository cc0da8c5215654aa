package segment

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// After each failure the source rests longer, from 100 ms to 5 s, however many callers there are. It logs the failure
// once.
func TestFetchesThatFailComeLessAndLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		of.down = true
		r := start(t, of)
		defer r.stop()
		for _, c := range []struct {
			after   time.Duration
			fetches int
		}{
			{0, 1},
			{99 * time.Millisecond, 1},
			{time.Millisecond, 2},
			{199 * time.Millisecond, 2},
			{time.Millisecond, 3},
			{400 * time.Millisecond, 4},
		} {
			time.Sleep(c.after)
			for range 10 {
				if _, err := r.draw("order", 1); !errors.Is(err, ErrResting) {
					t.Errorf("error %v, expected %v", err, ErrResting)
				}
			}
			if _, fetches := of.used(); fetches != c.fetches {
				t.Errorf("%v later there were %d fetches, expected %d", c.after, fetches, c.fetches)
			}
		}
		for range 8 { // a tag without a block is forgotten after a minute, with its failures
			time.Sleep(longestRest)
			_, before := of.used()
			_, _ = r.draw("order", 1)
			if _, fetches := of.used(); fetches != before+1 {
				t.Errorf("%d fetches after the longest rest, expected one", fetches-before)
			}
		}
		of.do(func() { of.down = false })
		time.Sleep(longestRest)
		r.mustDraw("order", 1)
		if n := strings.Count(r.log.String(), "no block could be fetched"); n != 1 {
			t.Errorf("one cause was logged %d times:\n%s", n, r.log)
		}
		of.do(func() { of.down = true })
		_, _ = r.draw("order", 1999)
		synctest.Wait()
		time.Sleep(firstRest)
		_, before := of.used()
		_, _ = r.draw("order", 1)
		if _, fetches := of.used(); fetches != before+1 {
			t.Error("after a block that was fetched the rests do not begin anew")
		}
	})
}

func TestNewTagsThatAreStuckHoldUpNoTagThatWasUsedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		r := start(t, of)
		defer r.stop()
		r.mustDraw("order", 1)
		of.do(func() { of.delay = time.Hour })
		for i := range 2 * fetchers {
			if _, count, err := r.TryNextN(fmt.Append(nil, "new", i), 1); count != 0 || err != nil {
				t.Errorf("%d numbers, error %v", count, err)
			}
		}
		synctest.Wait()
		of.do(func() { of.delay = 0 })
		r.mustDraw("order", 1999)
		r.mustDraw("order", 1)
	})
}

func TestInvariant5ANewStepIsTakenOverWithinAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		r := start(t, of)
		defer r.stop()
		r.mustDraw("order", 1)
		of.do(func() { of.rows["order"].step = 7000 })
		time.Sleep(refreshEvery)
		synctest.Wait()
		if size := r.Stats()[0].Size; size != 7000 {
			t.Errorf("the next fetch is of %d numbers, expected the row's new step of 7000", size)
		}
		of.do(func() { delete(of.rows, "order") })
		time.Sleep(refreshEvery)
		synctest.Wait()
		of.do(func() { of.rows["order"] = &counter{next: 1, step: 10} })
		time.Sleep(unknownRest)
		r.mustDraw("order", 1)
		synctest.Wait()
		of.do(func() {
			if size := of.asked[len(of.asked)-1].Size; size > 20 {
				t.Errorf("a tag that was made anew with step 10 is asked for %d numbers", size)
			}
		})
	})
}

func TestAtTheEndOfBigintWhatIsLeftIsGivenAndCallersAreToldWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		of.rows["order"].next = math.MaxInt64 - 2000
		r := start(t, of)
		defer r.stop()
		if got := r.mustDraw("order", 2000); got[1999] != math.MaxInt64-1 {
			t.Errorf("the last number is %d", got[1999])
		}
		if _, err := r.draw("order", 1); !errors.Is(err, ErrExhausted) {
			t.Errorf("error %v, expected %v", err, ErrExhausted)
		}
		if st := r.Stats()[0]; st.Unknown != 0 || st.Left != 0 {
			t.Errorf("counted as %+v; to be at the end is a clean answer", st)
		}
		if !strings.Contains(r.log.String(), "end of bigint") {
			t.Errorf("the log does not tell:\n%s", r.log)
		}
	})
}

func TestInvariant9FetchesThatHaveNotBegunAtTheEndNeverDoAndTheirCallersAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable()
		of.delay = time.Hour
		r := start(t, of)
		const tags = 20 // new tags, fetched one by one
		told := make(chan error, tags)
		for i := range tags {
			go func() {
				_, _, err := r.NextN(t.Context(), fmt.Append(nil, i), 1)
				told <- err
			}()
		}
		synctest.Wait()
		begin := time.Now()
		r.stop()
		if took := time.Since(begin); took > fetchLimit {
			t.Errorf("the end took %v, expected at most %v, the fetch that was under way", took, fetchLimit)
		}
		ended := 0
		for range tags {
			if err := <-told; errors.Is(err, ErrEnded) {
				ended++
			}
		}
		if ended < tags-1 {
			t.Errorf("%d of %d callers were told of the end", ended, tags)
		}
	})
}

func TestNobodyFetchesBeforeTheFirstDraw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		r := start(t, of)
		defer r.stop()
		working := func() int {
			synctest.Wait()
			all := make([]byte, 1<<20)
			all = all[:runtime.Stack(all, true)]
			return bytes.Count(all, []byte("segment.(*Source).Run.func"))
		}
		if n := working(); n != 0 {
			t.Errorf("%d goroutines fetch before a draw", n)
		}
		r.mustDraw("order", 1)
		if n := working(); n != fetchers+2 {
			t.Errorf("%d goroutines fetch after a draw; expected %d", n, fetchers+2)
		}
	})
}
