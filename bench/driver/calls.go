package driver

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sys/unix"

	"pgflurry/bench/trial"
)

// Call makes one round trip, and returns how many operations it was.
type Call func(ctx context.Context) (operations int, err error)

// Dial connects one client. The caller has to call end, if err is nil.
type Dial func(ctx context.Context, target string) (call Call, end func(), err error)

// Calls are clients that repeat a call, each on a connection of its own.
type Calls struct {
	Dial    Dial
	Clients int
	Pace    Pace
	sleep   func(time.Duration) // nil: to the microsecond, which a timer of Go is not
}

// Against makes a turn: the clients connect, each calls once, and then all call together for a time. Only that time
// counts.
func (c Calls) Against(target string) trial.Turn {
	return func(ctx context.Context, d time.Duration, measure trial.Measure) (trial.Count, error) {
		perSecond, err := c.Pace.perSecond()
		if err != nil {
			return trial.Count{}, err
		}
		calls := make([]Call, c.Clients)
		for i := range calls {
			call, end, err := c.Dial(ctx, target)
			if err != nil {
				return trial.Count{}, err
			}
			defer end()
			if _, err := call(ctx); err != nil {
				return trial.Count{}, err
			}
			calls[i] = call
		}
		starts := &schedule{perSecond: perSecond, sleep: c.sleep}
		if c.sleep == nil {
			starts.sleep = sleep
		}
		if perSecond > 0 { // who sleeps may keep a P for a while, and nobody else shall wait for it
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.Clients + runtime.NumCPU()))
		}
		count, err := measure(func() (trial.Count, error) { return together(ctx, calls, d, starts) })
		c.Pace.keep(count)
		return count, err
	}
}

// together lets all clients call until the time is over.
func together(ctx context.Context, calls []Call, d time.Duration, starts *schedule) (trial.Count, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	began := time.Now()
	starts.next, starts.until = began, began.Add(d)
	var count trial.Count
	trips := newTrips()
	var mu sync.Mutex // of count and trips
	var all sync.WaitGroup
	for _, call := range calls {
		all.Go(func() {
			operations, own, err := repeat(ctx, call, starts)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				cancel(err) // the first error is the cause
			}
			count.Operations += operations
			trips.Merge(own)
		})
	}
	all.Wait()
	count.Elapsed, count.Latency = time.Since(began), latencyOf(trips)
	if mean, measured := count.Latency["mean"]; measured && starts.perSecond == 0 {
		count.Latency = map[string]time.Duration{"mean": mean}
	}
	return count, context.Cause(ctx)
}

// repeat calls until the schedule is over.
func repeat(ctx context.Context, call Call, starts *schedule) (int64, *hdrhistogram.Histogram, error) {
	trips, operations := newTrips(), int64(0)
	for {
		at, over := starts.take()
		if over {
			return operations, trips, nil
		}
		for wait := time.Until(at); wait > 0; wait = time.Until(at) { // a signal ends it early
			starts.sleep(wait)
		}
		if ctx.Err() != nil {
			return operations, trips, context.Cause(ctx)
		}
		n, err := call(ctx)
		if err != nil {
			return operations, trips, err
		}
		operations += int64(n)
		record(trips, time.Since(at))
	}
}

// schedule is when calls begin. Several clients take from it at once.
type schedule struct {
	mu          sync.Mutex
	next, until time.Time
	perSecond   float64 // 0: whenever a client is free
	sleep       func(time.Duration)
}

// sleep is exact to some microseconds. Go's timers wait for whole milliseconds while nothing else runs.
func sleep(d time.Duration) {
	wait := unix.NsecToTimeval(d.Nanoseconds())
	_, _ = unix.Select(0, nil, nil, nil, &wait)
}

// take is the intended start of the next call. In a closed loop it is now.
func (s *schedule) take() (at time.Time, over bool) {
	if s.perSecond == 0 {
		now := time.Now()
		return now, !now.Before(s.until)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at = s.next
	s.next = at.Add(time.Duration(rand.ExpFloat64() / s.perSecond * float64(time.Second)))
	return at, !at.Before(s.until)
}
