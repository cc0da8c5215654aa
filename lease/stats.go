package lease

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"pgflurry/histogram"
)

// Stats is the state of a keeper. Its moments are of the monotonic time of the keeper's clock.
type Stats struct {
	At      time.Duration // the present moment
	Held    bool          // the keeper has a lease
	Granted bool          // there was a grant
	Last    Grant         // the issuer's present or last grant; meaningful if Granted. It outlives a lost lease
	// Left is the time from now to the end of Last, by the clock of IDs, which follows the database's. 0: the grant has
	// ended, or Run has.
	Left time.Duration
	Term int64 // of the lease that Last is from

	Told   bool          // the database has acknowledged something, so its clock is known
	Clean  time.Duration // when the last acknowledgement arrived
	Micros int64         // the database's clock in it: microseconds since the epoch of the namespace
	Trip   time.Duration // its round trip
	// Ahead is how far IDs are ahead of the database's clock; 0: they are not. Above 0 their clock runs at 9/10 speed.
	// A few milliseconds are normal if the monotonic clock runs a little faster than the database's.
	Ahead time.Duration

	Cause error         // of the last failure; nil while there is none
	Opens time.Duration // when the gate opens, or the next worker is free if its holder is gone; 0: not known

	Lost   *Lost // the last loss of a lease; nil: none
	LostAt time.Duration

	// how often a row proved that acknowledged writes are gone, and when it did last
	Forgotten   int64
	ForgottenAt time.Duration

	Renewals         map[string]int64 // by result: ok, unknown, refused, lost
	Acquisitions     map[string]int64 // by result: ok, unknown, refused
	RenewalDurations histogram.Snapshot
}

// renewalBounds are the buckets of RenewalDurations. A renewal is a round trip with a commit, and ends after five
// seconds.
var renewalBounds = [...]time.Duration{
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second,
}

// The results of an attempt.
const (
	resultOK      = "ok"
	resultUnknown = "unknown" // it may have happened or not
	resultRefused = "refused" // a clean answer that grants nothing
	resultLost    = "lost"    // … and ends the lease
)

// A record holds the statistics of a keeper. The keeper's goroutine writes while others read. The lock is held for a
// few assignments, never during an attempt.
type record struct {
	renewalTimes *histogram.Histogram

	mu    sync.Mutex
	stats Stats // without the grant, and without the fields that change with time
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

// Stats returns the present state. It is safe for concurrent use, also while Run waits for the database.
func (k *Keeper) Stats() Stats {
	r := k.record
	r.mu.Lock()
	s, ended := r.stats, r.ended
	s.Renewals, s.Acquisitions = maps.Clone(s.Renewals), maps.Clone(s.Acquisitions)
	r.mu.Unlock()
	s.RenewalDurations = r.renewalTimes.Snapshot()
	g := k.issued.Load() // after the lock: a recorded grant is there
	s.Granted, s.Last, s.Term = g.Until > 0, g.Grant, g.term
	s.At, s.Ahead = k.clock.Monotonic(), k.clock.ahead()
	if s.Granted && !ended {
		s.Left = k.clock.until(s.Last.Until)
	}
	return s
}

// acquisition counts an attempt to get a worker. It does not count one that shutdown cut short.
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
	case errors.As(err, &refusal), wrongDatabase(err):
		return resultRefused
	}
	return resultUnknown
}

// acknowledged records the database's clock of a clean acknowledgement.
func (r *record) acknowledged(micros int64, sent, received time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Told, r.stats.Micros, r.stats.Clean, r.stats.Trip = true, micros, received, received-sent
}

// granted records that the issuer has a grant.
func (r *record) granted() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Held, r.stats.Cause, r.stats.Opens = true, nil, 0
}

// failed records an attempt that granted nothing, at a monotonic time. held: the keeper still has a lease.
func (r *record) failed(err error, held bool, at time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Held, r.stats.Cause, r.stats.Opens = held, err, 0
	if refusal := new(Refusal); errors.As(err, &refusal) && refusal.Wait > 0 {
		r.stats.Opens = at + refusal.Wait
	}
	if lost := new(Lost); errors.As(err, &lost) {
		r.stats.Lost, r.stats.LostAt = lost, at
	}
}

// forgot records that the database has lost acknowledged writes.
func (r *record) forgot(at time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Forgotten++
	r.stats.ForgottenAt = at
}

// end records that the issuer is sealed.
func (r *record) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended, r.stats.Held = true, false
}
