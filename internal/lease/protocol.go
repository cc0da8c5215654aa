package lease

import (
	"errors"
	"time"

	"pgflurry/internal/connect"
)

// A protocol decides what a keeper does next. Its input is what happened and the monotonic time. It does no I/O, starts
// nothing, and has no clock of its own. So a test can lead many of them through any history.
//
// Call next, then exactly one of acquired, refused, unknownAcquire, or renewed, lost, unknownRenew. suspect may be
// called before next.
type protocol struct {
	namespace              string
	node, address, version string
	workers                Range
	first, window          int64 // ticks to reserve: the first time, and at most
	length                 func(ticks int64) time.Duration
	newOwner               func() string
	jitter                 func() float64 // in [0, 1)

	held      *held         // nil: none
	due       time.Duration // no attempt before this time
	sent      time.Duration // when the last attempt began that was acknowledged
	failures  int           // attempts in a row that granted nothing
	askAgain  time.Duration // the time at which the last refusal said to ask again; 0: none
	late      int           // how often in a row it asked at that time and others had been faster
	hurry     time.Duration // the earliest next attempt if the server may be back; 0: the last outcome is known
	elsewhere bool          // the held row is blocked: try another worker next
}

// held is the present lease.
type held struct {
	Lease
	bound   Grant         // what its last acknowledged write permits
	reserve int64         // ticks: the window of its last write
	place   string        // of the last answer that had one
	since   time.Duration // when it was acquired
	rest    time.Duration // how long a worker rests that was not released
}

// A step is what to do now: wait, or one attempt. Exactly one of its first three fields is set.
type step struct {
	wait    time.Duration
	acquire *Request
	renew   *Renewal
	limit   time.Duration // give up the attempt after this time
}

const (
	// longestPause is the longest time between two renewals, even if the window is long. So nearly the whole window is
	// left at any moment, a failure shows soon, and the clock follows the database's.
	longestPause = 20 * time.Second
	// shortestPause is the shortest one, however often somebody suspects that the row is elsewhere.
	shortestPause = time.Second

	longestAttempt     = 5 * time.Second
	shortestAttempt    = 500 * time.Millisecond
	slowestAcquisition = 30 * time.Second // after others that failed

	renewBackoff      = 250 * time.Millisecond
	longestRenewPause = 5 * time.Second

	acquireBackoff      = 500 * time.Millisecond
	acquireSpread       = time.Second
	longestAcquirePause = 15 * time.Second
)

// next returns what to do at the monotonic time now, when the clock shows tick.
func (p *protocol) next(now time.Duration, tick int64) step {
	if p.due > now {
		return step{wait: p.due - now}
	}
	if h := p.held; h != nil && !(p.elsewhere && tick >= h.bound.Until) {
		reserve := min(2*h.reserve, p.window)
		return step{
			renew: &Renewal{Lease: h.Lease, Acknowledged: h.bound.Until, Wanted: tick + reserve, Window: reserve},
			limit: min(max(p.length(h.reserve)/4, shortestAttempt), longestAttempt),
		}
	}
	return step{
		acquire: &Request{
			Namespace: p.namespace, Owner: p.newOwner(), Window: p.first, Longest: p.window,
			Node: p.node, Address: p.address, Version: p.version, Range: p.workers,
		},
		// What is slow is not gone. A renewal needs no growing limit: its answer counts when it is late.
		limit: connect.Doubled(longestAttempt, slowestAcquisition, p.failures+1),
	}
}

// acquired stores the new lease. sent is when the attempt began. Times are measured from there, so a slow answer does
// not prolong trust.
func (p *protocol) acquired(a Acquired, sent time.Duration) Grant {
	p.held = &held{
		Lease: a.Lease, bound: a.Grant, reserve: p.first, place: a.Place, since: sent, rest: a.Rest,
	}
	p.planRenewal(sent, a.Grant.Until-a.Grant.From)
	return a.Grant
}

// renewed raises the bound to the acknowledged mark and no further. tick is the clock after the answer.
func (p *protocol) renewed(asked Renewal, r Renewed, tick int64) Grant {
	h := *p.held
	h.bound.Until, h.reserve = r.Until, asked.Window
	if r.Place != "" {
		h.place = r.Place
	}
	p.held = &h
	reserved := min(asked.Window, r.Until-tick)
	if reserved <= 0 { // the clock is ahead of the database's by more than the window; hurrying would not help
		reserved = asked.Window
	}
	p.planRenewal(asked.Sent, reserved)
	return h.bound
}

// planRenewal plans the next renewal for when a third of the reserved time has passed, or after the longest pause.
func (p *protocol) planRenewal(sent time.Duration, reserved int64) {
	p.failures, p.late, p.askAgain, p.elsewhere, p.hurry = 0, 0, 0, false, 0
	p.sent = sent
	pause := min(max(p.length(reserved)/3, renewBackoff), longestPause)
	p.due = sent + time.Duration(float64(pause)*(0.9+0.2*p.jitter()))
}

// suspect makes a renewal due that is not: the row may be elsewhere. It makes an attempt due after one whose outcome is
// unknown: the server may take logins again.
func (p *protocol) suspect() {
	switch {
	case p.hurry > 0:
		p.due = min(p.due, p.hurry)
	case p.held != nil && p.failures == 0:
		p.due = min(p.due, p.sent+shortestPause)
	}
}

// lost forgets the lease. The issuer may finish its grant meanwhile. If another database answered, the address may lead
// to two by turns. Each turn would use up a worker in one of them, so there is at most one in the time that a worker
// rests.
func (p *protocol) lost(place string, now time.Duration) {
	h := p.held
	p.held, p.failures, p.elsewhere, p.hurry = nil, 0, false, 0
	p.due = now
	if place != "" && h.place != "" && place != h.place {
		p.due = max(now, h.since+h.rest)
	}
}

// refused waits until a worker may be free. If that is long, it asks sooner, because a process may release one earlier.
// Processes that wait for the same moment spread: by a quarter of their wait or a second. If this one asks at that
// moment and others were faster, it spreads four times as far the next time.
func (p *protocol) refused(r *Refusal, now time.Duration) {
	pause := p.failedAcquire()
	if r.Wait > 0 && p.held == nil {
		if p.askAgain != 0 && now >= p.askAgain {
			p.late++
		}
		p.askAgain = now + r.Wait
		if r.Wait > longestAcquirePause {
			pause = p.atMost(longestAcquirePause)
		} else {
			spread := min(max(acquireSpread<<min(2*p.late, 16), r.Wait/4), longestAcquirePause)
			pause = r.Wait + time.Duration(float64(spread)*p.jitter())
		}
	}
	p.due = now + pause
}

// unknownAcquire counts a failure and plans the next attempt. If a worker was taken, it is never used.
func (p *protocol) unknownAcquire(now time.Duration) {
	p.due = now + p.failedAcquire()
	p.hurry = now + shortestPause
}

// unknownRenew plans another attempt. The bound stays.
func (p *protocol) unknownRenew(err error, now time.Duration) {
	p.failures++
	p.elsewhere = errors.Is(err, ErrBlocked)
	p.due = now + p.backoff(renewBackoff, longestRenewPause)
	p.hurry = now + shortestPause
}

// failedAcquire counts a failure and returns the pause. The pause is short while a lease is held that may yet be
// renewed.
func (p *protocol) failedAcquire() time.Duration {
	p.failures++
	p.elsewhere, p.hurry = false, 0
	if p.held != nil {
		return p.backoff(renewBackoff, longestRenewPause)
	}
	return p.backoff(acquireBackoff, longestAcquirePause)
}

// backoff doubles the pause with every failure.
func (p *protocol) backoff(shortest, longest time.Duration) time.Duration {
	return p.atMost(connect.Doubled(shortest, longest, p.failures))
}

// atMost shortens a pause by up to half, at random.
func (p *protocol) atMost(pause time.Duration) time.Duration {
	return pause - time.Duration(float64(pause/2)*p.jitter())
}
