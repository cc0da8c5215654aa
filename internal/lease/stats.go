package lease

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"pgflurry/internal/report"
)

// Stats is the state of a keeper: Lease and Clock as operators see them, and what the caller needs to complete them. A
// keeper has no wall clock and no layout, so it leaves their times, Window, Offset, and the reason in words to the
// caller. Its moments are of the monotonic time of the keeper's clock.
type Stats struct {
	Lease report.Lease
	Clock report.Clock

	Until int64 // the mark: where the issuer's present or last grant ends; 0: there was no grant
	Term  int64 // of the lease that this grant is from

	At           time.Duration // the present moment
	Acknowledged time.Duration // when the last acknowledgement arrived
	Micros       int64         // the database's clock in it: microseconds since the epoch of the namespace
	Opens        time.Duration // when the gate opens, or the next worker is free if its holder is gone; 0: not known
	LostAt       time.Duration
	ForgottenAt  time.Duration

	Cause error // of the last failure; nil while there is none
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
	renewalTimes *report.Histogram

	mu    sync.Mutex
	stats Stats // without the grant, and without what changes with time
	ended bool
}

func newRecord() *record {
	return &record{
		renewalTimes: report.NewHistogram(renewalBounds[:]...),
		stats: Stats{Lease: report.Lease{
			Renewals:     map[string]int64{resultOK: 0, resultUnknown: 0, resultRefused: 0, resultLost: 0},
			Acquisitions: map[string]int64{resultOK: 0, resultUnknown: 0, resultRefused: 0},
		}},
	}
}

// Stats returns the present state. It is safe for concurrent use, also while Run waits for the database.
func (k *Keeper) Stats() Stats {
	r := k.record
	r.mu.Lock()
	s, ended := r.stats, r.ended
	l := &s.Lease
	l.Renewals, l.Acquisitions = maps.Clone(l.Renewals), maps.Clone(l.Acquisitions)
	r.mu.Unlock()
	l.RenewalDurations = r.renewalTimes.Snapshot()
	g := k.issued.Load() // after the lock: a recorded grant is there
	l.Granted, l.Worker, s.Until, s.Term = g.Until > 0, g.Worker, g.Until, g.term
	if l.Granted && !ended {
		l.Reserve = k.clock.until(g.Until)
	}
	s.At, s.Clock.Ahead = k.clock.Monotonic(), k.clock.ahead()
	s.Clock.Slowed = s.Clock.Ahead > 0
	return s
}

// acquisition counts an attempt to get a worker. It does not count one that shutdown cut short.
func (r *record) acquisition(ctx context.Context, err error) {
	if ctx.Err() != nil && err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Lease.Acquisitions[resultOf(err)]++
}

// renewal does the same for a renewal.
func (r *record) renewal(ctx context.Context, took time.Duration, err error) {
	if ctx.Err() != nil && err != nil {
		return
	}
	r.renewalTimes.Observe(took)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Lease.Renewals[resultOf(err)]++
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
	r.stats.Micros, r.stats.Acknowledged = micros, received
	r.stats.Clock.Known, r.stats.Clock.RoundTrip = true, received-sent
}

// granted records that the issuer has a grant.
func (r *record) granted() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Lease.Held, r.stats.Cause, r.stats.Opens = true, nil, 0
}

// failed records an attempt that granted nothing, at a monotonic time. held: the keeper still has a lease.
func (r *record) failed(err error, held bool, at time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Lease.Held, r.stats.Cause, r.stats.Opens = held, err, 0
	if refusal := new(Refusal); errors.As(err, &refusal) && refusal.Wait > 0 {
		r.stats.Opens = at + refusal.Wait
	}
	if lost := new(Lost); errors.As(err, &lost) {
		r.stats.Lease.Lost, r.stats.LostAt = lost.Error(), at
	}
}

// forgot records that the database has lost acknowledged writes.
func (r *record) forgot(at time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.Lease.Forgotten++
	r.stats.ForgottenAt = at
}

// end records that the issuer is sealed.
func (r *record) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended, r.stats.Lease.Held = true, false
}
