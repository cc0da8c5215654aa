package lease

import (
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A hand is a monotonic clock that a test sets.
type hand struct{ at time.Duration }

func (h *hand) now() time.Duration { return h.at }

func TestClockShowsNoUsableTickBeforeItsFirstReading(t *testing.T) {
	c := NewClock(time.Millisecond)
	if tick := c.Now(); tick != Unset {
		t.Errorf("tick %d before the first Observe, expected %d", tick, Unset)
	}
	c.Observe(-5_000_000, 0, 0)
	if tick := c.Now(); tick != Unset {
		t.Errorf("tick %d five seconds before the epoch, expected %d", tick, Unset)
	}
}

func TestClockIsTheDatabasesPlusMonotonicTimeSinceTheAnswerWasReceived(t *testing.T) {
	h := &hand{at: 100 * time.Second}
	c := NewClockFrom(10*time.Millisecond, h.now)
	c.Observe(5_000_000, 99*time.Second, 100*time.Second)
	if tick := c.Now(); tick != 500 {
		t.Errorf("tick %d at the receipt, expected 500: the time before it may have been the way there", tick)
	}
	h.at += 25 * time.Millisecond
	if tick := c.Now(); tick != 502 {
		t.Errorf("tick %d 25 ms later, expected 502", tick)
	}
}

func TestClockJumpsUpWhenItWasBehind(t *testing.T) {
	h := &hand{}
	c := NewClockFrom(time.Millisecond, h.now)
	c.Observe(0, 0, 0)
	c.Observe(90_000_000, 0, 0)
	if tick := c.Now(); tick != 90_000 {
		t.Errorf("tick %d, expected 90000", tick)
	}
}

func TestClockRunsAtNineTenthsWhileAheadUntilBothMeet(t *testing.T) {
	h := &hand{}
	c := NewClockFrom(time.Millisecond, h.now)
	c.Observe(10_000_000, 0, 0)
	c.Observe(9_000_000, 0, 0) // the database was set back by a second
	for _, step := range []struct {
		at   time.Duration
		tick int64
	}{
		{0, 10_000},
		{time.Second, 10_900},
		{5 * time.Second, 14_500},
		{10 * time.Second, 19_000}, // they meet here
		{11 * time.Second, 20_000},
	} {
		h.at = step.at
		if tick := c.Now(); tick != step.tick {
			t.Errorf("tick %d after %v, expected %d", tick, step.at, step.tick)
		}
	}
}

func TestClockIsNotSlowedByAnAnswerThatWasLongUnderWay(t *testing.T) {
	h := &hand{}
	c := NewClockFrom(time.Millisecond, h.now)
	c.Observe(10_000_000, 0, 0)
	h.at = 4 * time.Second // its answer may be up to 4 s old
	c.Observe(10_500_000, 0, h.at)
	h.at += 10 * time.Second
	if tick := c.Now(); tick != 24_000 {
		t.Errorf("tick %d, expected 24000", tick)
	}
}

func TestInvariant7TheClockNeverStepsBackAndLagsByAtMostARoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &hand{}
		c := NewClockFrom(time.Millisecond, h.now)
		database := time.Hour
		last := Unset
		steady := false // whether the database's clock made no step since the last Observe
		for range 60 {
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				database += time.Duration(rapid.Int64Range(-int64(time.Hour), int64(time.Hour)).Draw(t, "step"))
				steady = false
			case 1:
				there := time.Duration(rapid.Int64Range(0, int64(3*time.Second)).Draw(t, "there"))
				back := time.Duration(rapid.Int64Range(0, int64(3*time.Second)).Draw(t, "back"))
				sent := h.at
				h.at, database = h.at+there, database+there
				said := database
				h.at, database = h.at+back, database+back
				c.Observe(said.Microseconds(), sent, h.at)
				steady = true
				if tick := c.Now(); database >= back && tick < (database-back).Milliseconds() {
					t.Fatalf("tick %d lags behind %d by more than the way back, %v",
						tick, database.Milliseconds(), back)
				}
			default:
				passed := time.Duration(rapid.Int64Range(0, int64(20*time.Second)).Draw(t, "pass"))
				h.at, database = h.at+passed, database+passed
			}
			tick := c.Now()
			if tick < last {
				t.Fatalf("tick %d after %d", tick, last)
			}
			if steady && database > 0 && tick < (database-3*time.Second).Milliseconds()-1 {
				t.Fatalf("tick %d, the database's is %d: more than the way back behind", tick, database.Milliseconds())
			}
			last = tick
		}
	})
}

// Steps of a fraction of a tick, up to the exact end of the fast path. If the fast path were open too long, the clock
// would show a tick late.
func TestInvariant7AReadingThatCalculatesNothingShowsWhatTheCourseSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]time.Duration{time.Millisecond, 7 * time.Millisecond, time.Second}).Draw(t, "unit")
		upTo := func(most time.Duration, name string) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(most)).Draw(t, name))
		}
		h := &hand{at: upTo(time.Hour, "start")}
		c := NewClockFrom(unit, h.now)
		high := Unset
		for range 60 {
			if c.course.Load() == nil || rapid.IntRange(0, 9).Draw(t, "observe") == 0 {
				reading := time.Hour + upTo(4*unit, "told")
				h.at += upTo(unit, "under way")
				c.Observe(reading.Microseconds(), h.at-upTo(unit, "sent"), h.at)
			}
			switch end := time.Duration(c.course.Load().lasts.Load()); {
			case end > h.at && rapid.Bool().Draw(t, "to the end"):
				h.at = end - upTo(1, "or a nanosecond before")
			default:
				h.at += upTo(unit/3, "pass")
			}
			want := max(high, c.course.Load().micros(h.at)/unit.Microseconds())
			if high = c.Now(); high != want {
				t.Fatalf("tick %d, expected %d", high, want)
			}
		}
	})
}

func TestWhatALateReaderSaysOfAReplacedCourseHoldsNobodyBack(t *testing.T) {
	h := &hand{}
	c := NewClockFrom(time.Millisecond, h.now)
	c.Observe(5_000, 0, 0)
	replaced := c.course.Load()
	c.Observe(5_900, 0, 0) // the tick ends in 100 µs, not in 1 ms
	if tick := c.look(replaced, h.at); tick != 5 {
		t.Errorf("tick %d, expected 5", tick)
	}
	h.at = 100 * time.Microsecond
	if tick := c.Now(); tick != 6 {
		t.Errorf("tick %d, expected 6", tick)
	}
}

func TestALateReaderOfAReplacedCourseDoesNotSetTheClockForward(t *testing.T) {
	h := &hand{}
	c := NewClockFrom(time.Millisecond, h.now)
	c.Observe(10_000_000, 0, 0)
	fast := c.course.Load()
	c.Observe(9_000_000, 0, 0) // the database was set back by a second
	h.at = 5 * time.Second
	if tick := c.look(fast, h.at); tick != 15_000 {
		t.Errorf("the late reader got tick %d, expected 15000", tick)
	}
	c.Observe(14_000_000, h.at, h.at)
	for _, step := range []struct {
		at   time.Duration
		tick int64
	}{
		{5 * time.Second, 15_000},         // not back
		{5500 * time.Millisecond, 15_000}, // the course shows 14950
		{6 * time.Second, 15_400},
		{10 * time.Second, 19_000}, // the clock meets the database's, as without the late reader
	} {
		h.at = step.at
		if tick := c.Now(); tick != step.tick {
			t.Errorf("tick %d after %v, expected %d", tick, step.at, step.tick)
		}
	}
}

func TestInvariant7TheClockNeverStepsBackForConcurrentReaders(t *testing.T) {
	c := NewClock(time.Millisecond)
	c.Observe(1_000_000_000, 0, 0)
	done := make(chan struct{})
	var readers sync.WaitGroup
	var shared sync.Mutex
	last := int64(0)
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				shared.Lock()
				before := last
				shared.Unlock()
				tick := c.Now()
				if tick < before {
					t.Errorf("tick %d after another reader saw %d", tick, before)
				}
				shared.Lock()
				last = max(last, tick)
				shared.Unlock()
			}
		})
	}
	for i := range int64(3000) { // alternately ahead and behind
		now := c.Monotonic()
		c.Observe(1_000_000_000+now.Microseconds()+(i%7-3)*200, now, now)
	}
	close(done)
	readers.Wait()
}

func TestReadingTheClockAllocatesNothing(t *testing.T) {
	c := NewClock(time.Millisecond)
	c.Observe(1_000_000, 0, 0)
	if n := testing.AllocsPerRun(1000, func() { c.Now() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkClockNow(b *testing.B) {
	c := NewClock(time.Millisecond)
	c.Observe(1_000_000, 0, 0)
	b.ReportAllocs()
	for b.Loop() {
		c.Now()
	}
}
