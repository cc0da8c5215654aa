package lease

import (
	"math"
	"sync/atomic"
	"time"
)

// Unset is the tick before tick 0. Clock.Now returns it before the first Observe, and while the database's clock is
// before the epoch. No ID can have it.
const Unset int64 = -1

// Clock shows the database's time on this node, in ticks: the last time that the database sent, plus the monotonic time
// since then. It is a lower bound of the database's clock, because the answer took a while.
//
//	behind the database's clock                          jump to it
//	ahead by at most the time that the answer took       go on: this does not prove that the clock is ahead
//	ahead by more (drift, or the database was set back)  go on at 9/10 speed until the two meet
//
// It never steps back and reads no wall clock. If the machine stops its monotonic clock (suspend, a paused virtual
// machine), the clock lags until the next Observe.
//
// The first reader of a tick caches when the tick ends. Later readings in that tick only compare two numbers. They cost
// little more than a reading of the monotonic clock.
type Clock struct {
	unit      int64                // microseconds a tick
	start     time.Time            // only its monotonic reading is used
	monotonic func() time.Duration // nil: the time since start
	course    atomic.Pointer[course]
	high      atomic.Int64 // the largest tick ever returned
}

// A course describes the clock from one Observe to the next. All fields except lasts are immutable.
type course struct {
	at       time.Duration // monotonic
	shown    int64         // what the clock shows at this instant, in microseconds since the epoch
	database int64         // what the database showed at this instant; never above shown

	// lasts is a monotonic time, in nanoseconds. Before it, this course has no tick above high. It is part of the
	// course, so a late write to a replaced course has no effect on the present one. It is written after high, and at
	// most a few times a tick.
	lasts atomic.Int64
}

// micros follows two lines and returns the higher one: the database's at full speed, and the clock's at 9/10.
func (c *course) micros(now time.Duration) int64 {
	passed := (now - c.at).Microseconds()
	return max(c.database+passed, c.shown+passed-passed/10)
}

// NewClock makes a clock that shows Unset until its first Observe. unit is the length of a tick, a whole number of
// microseconds above 0.
func NewClock(unit time.Duration) *Clock {
	c := &Clock{unit: unit.Microseconds(), start: time.Now()}
	c.high.Store(Unset)
	return c
}

// NewClockFrom is NewClock over the caller's monotonic clock: the time since an arbitrary moment, which never falls.
// Each reading calls it, concurrently. If it drifts, lags or stands still, IDs carry an older time but stay unique.
func NewClockFrom(unit time.Duration, monotonic func() time.Duration) *Clock {
	c := NewClock(unit)
	c.monotonic = monotonic
	return c
}

// Now returns the present tick, never less than an earlier call has returned. It is safe for concurrent use, takes no
// lock and allocates nothing.
func (c *Clock) Now() int64 {
	course := c.course.Load()
	if course == nil {
		return Unset
	}
	var now time.Duration // Monotonic, inlined by hand: Now runs for each ID
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

// look is the slow path of Now, and sets lasts for the fast path. No course runs faster than the monotonic clock, so
// the tick lasts at least as long as its remaining microseconds. At 9/10 speed it lasts longer; the next look extends
// lasts.
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

// raise returns tick, or the highest tick returned so far. It writes at most once a tick, so that concurrent readers
// can share the cache line.
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

// Monotonic returns the time since an arbitrary moment. The times for Observe must come from it.
func (c *Clock) Monotonic() time.Duration {
	if c.monotonic == nil {
		return time.Since(c.start)
	}
	return c.monotonic()
}

// Observe takes a reading of the database's clock (microseconds since the epoch). The database made it between sent and
// received: the monotonic times at which the question left and the answer arrived. One goroutine at a time may call it.
//
// The next course depends on the course before and on this answer, not on high. A late reader of an older, faster
// course may have raised high above what the present course shows. Now returns high until the course has reached it.
func (c *Clock) Observe(databaseMicros int64, sent, received time.Duration) {
	now := c.Monotonic()
	next := &course{at: now, database: databaseMicros + (now - received).Microseconds()}
	next.lasts.Store(math.MinInt64)
	next.shown = next.database
	if last := c.course.Load(); last != nil {
		shown := last.micros(now)
		ahead := shown - next.database
		switch {
		case ahead <= 0: // behind: jump up
		case ahead <= (received - sent).Microseconds(): // the database may well show the same
			next.shown, next.database = shown, shown
		default:
			next.shown = shown
		}
	}
	c.course.Store(next)
}

// ahead returns how far the clock is ahead of the database's, as far as the last Observe shows; 0: it is not.
func (c *Clock) ahead() time.Duration {
	course := c.course.Load()
	if course == nil {
		return 0
	}
	now := c.Monotonic()
	database := course.database + (now - course.at).Microseconds()
	return time.Duration(course.micros(now)-database) * time.Microsecond
}

// until returns how long this clock takes to the start of a tick, at full speed. 0: it is there, or shows nothing yet.
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
