package lease

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"pgflurry/histogram"
)

// Stats is how a keeper stands. Moments are of the monotonic time of its clock.
type Stats struct {
	At      time.Duration // the present moment
	Held    bool          // a lease is in hand
	Granted bool          // there was a grant
	Last    Grant         // what the issuer has, or had last; meaningful if Granted. It outlives a lease that is lost
	// Left is from now to the end of that, by the clock of IDs, which is the database's; 0: it has ended, or Run has.
	Left time.Duration
	Term int64 // of the lease in hand, or of the last

	Told   bool          // the database has told its clock: it has acknowledged something
	Clean  time.Duration // when the last acknowledgement was there
	Micros int64         // what the database's clock showed for it: microseconds since the epoch of the namespace
	Trip   time.Duration // how long it was under way
	// Ahead is how far IDs are ahead of the database's clock; 0: they are not. Above 0 their clock runs at 9/10 speed.
	// A monotonic clock that runs a little faster than the database's is ahead of it by milliseconds.
	Ahead time.Duration

	Cause error         // of the last failure; nil while all is well
	Opens time.Duration // when the gate opens or the next worker is free; 0: not known

	Renewals         map[string]int64 // by result: ok, unknown, refused, lost
	Acquisitions     map[string]int64 // by result: ok, unknown, refused
	RenewalDurations histogram.Snapshot
}

// renewalBounds are those of RenewalDurations: a renewal is a round trip with a commit, and ends after five seconds.
var renewalBounds = [...]time.Duration{
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second,
}

// What came of an attempt.
const (
	resultOK      = "ok"
	resultUnknown = "unknown" // it may have happened or not
	resultRefused = "refused" // a clean answer that grants nothing
	resultLost    = "lost"    // … and ends the lease
)

// A record is what a keeper has told. Its goroutine writes while others read. It holds the lock for some assignments
// and never over an attempt.
type record struct {
	renewalTimes *histogram.Histogram

	mu    sync.Mutex
	stats Stats // but for what moves with time
	ended bool
}

func newRecord() *record {
	return &record{
		renewalTimes: histogram.New(renewalBounds[:]...),
		stats: Stats{
			Renewals:     map[string]int64{resultOK: 0, resultUnknown: 0, resultRefused: 0, resultLost: 0},
			Acquisitions: map[string]int64{resultOK: 0, resultUnknown: 0, resultRefused: 0},
		},
	}
}

// Stats is how the keeper stands now. It may be called concurrently, also while Run waits for the database.
func (k *Keeper) Stats() Stats {
	r := k.record
	r.mu.Lock()
	s, ended := r.stats, r.ended
	s.Renewals, s.Acquisitions = maps.Clone(s.Renewals), maps.Clone(s.Acquisitions)
	r.mu.Unlock()
	s.RenewalDurations = r.renewalTimes.Snapshot()
	s.At, s.Ahead = k.clock.Monotonic(), k.clock.ahead()
	if s.Granted && !ended {
		s.Left = k.clock.until(s.Last.Until)
	}
	return s
}

// acquisition counts an attempt to get a worker. One that our own end cut short is none.
func (r *record) acquisition(ctx context.Context, err error) {
	if ctx.Err() != nil && err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Acquisitions[resultOf(err)]++
}

// renewal does the same for a renewal.
func (r *record) renewal(ctx context.Context, took time.Duration, err error) {
	if ctx.Err() != nil && err != nil {
		return
	}
	r.renewalTimes.Observe(took)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Renewals[resultOf(err)]++
}

func resultOf(err error) string {
	var lost *Lost
	var refusal *Refusal
	switch {
	case err == nil:
		return resultOK
	case errors.As(err, &lost):
		return resultLost
	case errors.As(err, &refusal), final(err):
		return resultRefused
	}
	return resultUnknown
}

// acknowledged notes what a clean acknowledgement says of the database's clock.
func (r *record) acknowledged(micros int64, sent, received time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Told, r.stats.Micros, r.stats.Clean, r.stats.Trip = true, micros, received, received-sent
}

// granted notes what the issuer has.
func (r *record) granted(g Grant, term int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.stats
	s.Held, s.Granted, s.Last, s.Term, s.Cause, s.Opens = true, true, g, term, nil, 0
}

// failed notes an attempt that granted nothing, at a monotonic time. held: a lease is in hand all the same.
func (r *record) failed(err error, held bool, at time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Held, r.stats.Cause, r.stats.Opens = held, err, 0
	if refusal := new(Refusal); errors.As(err, &refusal) && refusal.Wait > 0 {
		r.stats.Opens = at + refusal.Wait
	}
}

// end notes that the issuer is sealed.
func (r *record) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended, r.stats.Held = true, false
}
