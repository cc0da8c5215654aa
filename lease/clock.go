package lease

import (
	"math"
	"sync/atomic"
	"time"
)

// Unset is what Clock.Now returns before the first Observe, and while the database's clock is before the epoch:
// the tick before tick 0, in which no ID can exist.
const Unset int64 = -1

// Clock tells the database's time on this node, in ticks. It is what the database said last plus the monotonic time
// that has passed since. It is a lower bound of the database's clock, because the answer was under way for a while.
//
//	behind what the database says                      jump up to it
//	ahead by no more than the answer was under way     go on: that is no proof of being ahead
//	ahead by more (drift, or the database was set back) go on at 9/10 speed until the two meet
//
// It never steps back and reads no wall clock. Where the machine stops its monotonic clock (suspend, a paused
// virtual machine), it lags until the next Observe.
//
// Who finds a new tick also says until when it lasts at least, so that the readings that follow in it compare two
// numbers and calculate nothing. They cost little more than the monotonic clock's.
type Clock struct {
	unit      int64                // microseconds a tick
	start     time.Time            // carries a monotonic reading; its wall clock reading is never looked at
	monotonic func() time.Duration // nil: the time since start
	course    atomic.Pointer[course]
	high      atomic.Int64 // the largest tick ever returned
}

// A course says what the clock shows from one Observe to the next. All but lasts is immutable.
type course struct {
	at    time.Duration // monotonic
	shown int64         // microseconds since the epoch that the clock shows at this instant
	told  int64         // … and those the database had told for it; never above shown

	// lasts is a monotonic time, in nanoseconds, before which this course has no tick above high. It belongs to the
	// course: what a reader says late, of a course that Observe has replaced, holds nobody back. Written after high,
	// and at most a few times a tick.
	lasts atomic.Int64
}

// micros follows two lines, the database's at full speed and the clock's at 9/10, and shows the higher one.
func (c *course) micros(now time.Duration) int64 {
	passed := (now - c.at).Microseconds()
	return max(c.told+passed, c.shown+passed-passed/10)
}

// NewClock makes a clock that shows Unset until its first Observe. unit is the length of a tick, a whole number of
// microseconds above 0.
func NewClock(unit time.Duration) *Clock {
	c := &Clock{unit: unit.Microseconds(), start: time.Now()}
	c.high.Store(Unset)
	return c
}

// NewClockFrom is NewClock over the caller's monotonic clock: the time since an arbitrary moment, which never falls. It
// is called by each reading, concurrently. It may drift, lag or stand still: IDs then get older, not less unique.
func NewClockFrom(unit time.Duration, monotonic func() time.Duration) *Clock {
	c := NewClock(unit)
	c.monotonic = monotonic
	return c
}

// Now returns the present tick, never less than any call before it returned. May be called concurrently, takes no lock,
// allocates nothing.
func (c *Clock) Now() int64 {
	course := c.course.Load()
	if course == nil {
		return Unset
	}
	var now time.Duration // Monotonic, written out: this is called for each ID
	if c.monotonic == nil {
		now = time.Since(c.start)
	} else {
		now = c.monotonic()
	}
	if int64(now) < course.lasts.Load() {
		return c.high.Load()
	}
	return c.look(course, now)
}

// look is Now without the short way, and opens that for the readings to come. No course runs faster than the
// monotonic clock, so a tick lasts until what it still lacks has passed there. At 9/10 speed it lasts longer, and the
// next look says so.
func (c *Clock) look(course *course, now time.Duration) int64 {
	micros := course.micros(now)
	if micros < 0 {
		return c.high.Load()
	}
	tick := c.raise(micros / c.unit)
	missing := time.Duration((tick+1)*c.unit-micros) * time.Microsecond
	course.lasts.Store(int64(course.at + (now - course.at).Truncate(time.Microsecond) + missing))
	return tick
}

// raise returns tick, or the highest tick returned so far. Written to at most once a tick, so that concurrent readers
// share the cache line.
func (c *Clock) raise(tick int64) int64 {
	for {
		high := c.high.Load()
		if tick <= high {
			return high
		}
		if c.high.CompareAndSwap(high, tick) {
			return tick
		}
	}
}

// Monotonic returns the time passed since an arbitrary moment. Only it may stamp what Observe takes.
func (c *Clock) Monotonic() time.Duration {
	if c.monotonic == nil {
		return time.Since(c.start)
	}
	return c.monotonic()
}

// Observe takes in what the database's clock showed (microseconds since the epoch) at some moment between sent and
// received. These are the monotonic times at which the question left and the answer was there. One goroutine at a time.
func (c *Clock) Observe(databaseMicros int64, sent, received time.Duration) {
	now := c.Monotonic()
	next := &course{at: now, told: databaseMicros + (now - received).Microseconds()}
	next.lasts.Store(math.MinInt64)
	next.shown = next.told
	if last := c.course.Load(); last != nil {
		shown := last.micros(now)
		if high := c.high.Load(); high != Unset {
			shown = max(shown, high*c.unit)
		}
		ahead := shown - next.told
		switch {
		case ahead <= 0: // behind: jump up
		case ahead <= (received - sent).Microseconds(): // the database may well show the same
			next.shown, next.told = shown, shown
		default:
			next.shown = shown
		}
	}
	c.course.Store(next)
}

// ahead is how far the clock is ahead of the database's; 0: it is not, as far as the last Observe can tell.
func (c *Clock) ahead() time.Duration {
	course := c.course.Load()
	if course == nil {
		return 0
	}
	now := c.Monotonic()
	told := course.told + (now - course.at).Microseconds()
	return time.Duration(course.micros(now)-told) * time.Microsecond
}

// until is how long this clock takes to the start of a tick, at full speed; 0: it is there, or shows nothing yet.
func (c *Clock) until(tick int64) time.Duration {
	course := c.course.Load()
	if course == nil {
		return 0
	}
	return time.Duration(max(0, tick*c.unit-course.micros(c.Monotonic()))) * time.Microsecond
}

// ticks returns how many whole ticks fit into d.
func (c *Clock) ticks(d time.Duration) int64 { return d.Microseconds() / c.unit }

// duration returns the length of so many ticks.
func (c *Clock) duration(ticks int64) time.Duration {
	return time.Duration(ticks*c.unit) * time.Microsecond
}
