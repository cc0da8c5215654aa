package segment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// table is pgflurry.segment in memory, shared by all stores that it opens.
type table struct {
	mu    sync.Mutex
	rows  map[string]*counter
	delay time.Duration // of each fetch
	lose  int           // answers to lose
	down  bool          // nothing reaches the rows
	open  int           // connections
	asked []Request
}

func newTable(tags ...string) *table {
	t := &table{rows: map[string]*counter{}}
	for _, tag := range tags {
		t.rows[tag] = &counter{next: 1, step: 2000}
	}
	return t
}

// connection is a Store: it is used by one goroutine.
type connection struct {
	*table
	opened bool
}

func (c *connection) Fetch(ctx context.Context, r Request) (Block, error) {
	c.mu.Lock()
	delay := c.delay
	if !c.opened {
		c.opened = true
		c.open++
	}
	c.mu.Unlock()
	select {
	case <-time.After(delay):
	case <-ctx.Done():
		return Block{}, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, r)
	row := c.rows[r.Tag]
	switch {
	case c.down:
		return Block{}, errors.New("the database is down")
	case row == nil:
		return Block{}, ErrUnknownTag
	}
	b := row.fetch(r)
	if c.lose > 0 {
		c.lose--
		return Block{}, errLost
	}
	return b, nil
}

func (c *connection) Rows(_ context.Context, tags []string) (rows []Row, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down {
		return nil, errors.New("the database is down")
	}
	for _, tag := range tags {
		if row := c.rows[tag]; row != nil {
			rows = append(rows, Row{Tag: tag, Next: row.next, Step: row.step})
		}
	}
	return rows, nil
}

func (c *connection) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opened {
		c.opened = false
		c.open--
	}
}

// do changes the table.
func (t *table) do(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f()
}

// used tells how many connections are open, and how many fetches have reached the rows.
func (t *table) used() (connections, fetches int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open, len(t.asked)
}

// running is a source that runs until the test ends.
type running struct {
	*Source
	t    *testing.T
	log  *bytes.Buffer
	stop func()
}

func start(t *testing.T, of *table) *running {
	t.Helper()
	r := &running{t: t, log: &bytes.Buffer{}}
	source, err := New(Settings{
		Open: func() Store { return &connection{table: of} },
		Log:  slog.New(slog.NewTextHandler(r.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Source = source
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		source.Run(ctx)
	}()
	r.stop = func() { cancel(); <-ended }
	return r
}

// patience is the deadline of the callers.
const patience = 100 * time.Millisecond

// draw takes n numbers, and waits as long as a caller does.
func (r *running) draw(tag string, n int) (all []int64, err error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	for len(all) < n {
		first, count, err := r.NextN(ctx, []byte(tag), n-len(all))
		if err != nil {
			return all, err
		}
		for i := range int64(count) {
			all = append(all, first+i)
		}
	}
	return all, nil
}

func (r *running) mustDraw(tag string, n int) []int64 {
	r.t.Helper()
	all, err := r.draw(tag, n)
	if err != nil {
		r.t.Fatalf("drawing %d of %s: %v", n, tag, err)
	}
	return all
}

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
		if st := r.Stats(); st[0].Unknown != 1 || st[0].Blocks != 1 {
			t.Errorf("counted as %+v", st)
		}
		if !strings.Contains(r.log.String(), "no block could be fetched") || !strings.Contains(r.log.String(), "fetched again") {
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
		if _, err := r.draw("item", 1); !errors.Is(err, ErrUnknownTag) { // it was asked for this very second
			t.Errorf("error %v, expected %v", err, ErrUnknownTag)
		}
		time.Sleep(unknownRest)
		r.mustDraw("item", 1)
		r.mustDraw("order", 1) // not noticed yet
		time.Sleep(refreshEvery)
		if _, err := r.draw("order", 1); !errors.Is(err, ErrUnknownTag) {
			t.Errorf("a tag that was removed a minute ago gives: error %v, expected %v", err, ErrUnknownTag)
		}
		if !strings.Contains(r.log.String(), "the tag was removed") || !strings.Contains(r.log.String(), "skipped=1989") {
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

func TestConnectionsThatNothingNeedsAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		r := start(t, of)
		defer r.stop()
		time.Sleep(time.Hour)
		if connections, fetches := of.used(); connections != 0 || fetches != 0 {
			t.Errorf("a source that nobody uses has %d connections and fetched %d times", connections, fetches)
		}
		r.mustDraw("order", 300)
		time.Sleep(2 * idleLimit)
		if connections, _ := of.used(); connections != 0 {
			t.Errorf("%d connections are open", connections)
		}
	})
}

func TestTagsThatDoNotExistTakeNoRoomForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		source, err := New(Settings{Open: func() Store { return &connection{table: of} }, MaxTags: 10})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go source.Run(ctx)
		defer synctest.Wait()
		defer cancel()
		r := &running{Source: source, t: t}
		for i := range 10 {
			if _, err := r.draw(fmt.Sprint("typo", i), 1); !errors.Is(err, ErrUnknownTag) {
				t.Errorf("error %v, expected %v", err, ErrUnknownTag)
			}
		}
		if _, err := r.draw("order", 1); !errors.Is(err, ErrTooManyTags) {
			t.Errorf("error %v, expected %v", err, ErrTooManyTags)
		}
		time.Sleep(refreshEvery)
		synctest.Wait()
		r.mustDraw("order", 1)
	})
}

func TestABlockedRowHoldsUpNoOtherTag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order", "item")
		r := start(t, of)
		defer r.stop()
		r.mustDraw("order", 1)
		r.mustDraw("item", 1)
		of.do(func() { of.delay = time.Hour })
		r.mustDraw("order", 300)
		synctest.Wait() // its fetch is stuck
		of.do(func() { of.delay = 0 })
		r.mustDraw("item", 1900)
		synctest.Wait()
		r.mustDraw("item", 500)
	})
}

func TestSettingsAreChecked(t *testing.T) {
	if _, err := New(Settings{}); err == nil || !strings.Contains(err.Error(), "store") {
		t.Errorf("no store: error %v", err)
	}
	if _, err := New(Settings{Open: func() Store { return nil }, MaxTags: -1}); err == nil || !strings.Contains(err.Error(), "-1") {
		t.Errorf("negative tags: error %v", err)
	}
}

func TestDrawingFromMemoryAllocatesNothing(t *testing.T) {
	of := newTable("order")
	of.rows["order"].step = MaxBlock
	r := start(t, of)
	defer r.stop()
	tag := []byte("order")
	if _, _, err := r.NextN(t.Context(), tag, 1); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(1000, func() {
		if _, count, err := r.TryNextN(tag, 1); count != 1 || err != nil {
			t.Fatal(count, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a number; expected none", n)
	}
}

func BenchmarkTryNextN(b *testing.B) {
	of := newTable("order")
	of.rows["order"].step = MaxBlock
	source, err := New(Settings{Open: func() Store { return &connection{table: of} }})
	if err != nil {
		b.Fatal(err)
	}
	go source.Run(b.Context())
	tag := []byte("order")
	for b.Loop() {
		if _, _, err := source.NextN(b.Context(), tag, 1); err != nil {
			b.Fatal(err)
		}
	}
}
