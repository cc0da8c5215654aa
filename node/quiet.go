package node

import (
	"context"
	"sync/atomic"
	"time"

	"pgflurry/report"
)

const (
	// looksPerQuiet is how often the node looks in Settings.QuietAfter whether clients have needed it. So it is quiet a
	// tenth of that time late at most.
	looksPerQuiet = 10
	// wakePatience is how long a draw in the ID database waits at most for a node that wakes.
	wakePatience = 10 * time.Second
)

// A period is a time in which the node asks PostgreSQL. It follows a time in which the node is quiet, and so does not
// ask: all except the first one. A period does not change.
type period struct {
	quiet     time.Time     // when the quiet before it has begun; zero: it is the first one
	woken     time.Time     // when that has ended; zero: not yet
	at        time.Duration // the same moment by the monotonic clock
	answering chan struct{} // closed once there are IDs in the period
}

func (p *period) isQuiet() bool { return !p.quiet.IsZero() && p.woken.IsZero() }

// attendance knows whether clients need the node.
type attendance struct {
	after time.Duration // Settings.QuietAfter
	clock clock
	now   atomic.Pointer[period]
	wants atomic.Int64  // of clients: logins that begin, and draws that memory has nothing for
	bell  chan struct{} // has room for one of them
	heard int64         // wants before the node became quiet
	wait  atomic.Int64  // draws that wait for IDs of the period
}

func newAttendance(after time.Duration, clock clock) *attendance {
	a := &attendance{after: after, clock: clock, bell: make(chan struct{}, 1)}
	a.now.Store(&period{answering: make(chan struct{})})
	return a
}

// want says that a client needs the node. It does not wait.
func (a *attendance) want() {
	a.wants.Add(1)
	select {
	case a.bell <- struct{}{}:
	default:
	}
}

// need is what clients have needed so far.
type need struct{ wants, answers int64 }

// last returns when nobody has needed the node for the time, and nobody waits for it. From then on the node is quiet,
// and a want begins the next period. It also returns when ctx ends.
func (a *attendance) last(ctx context.Context, ask func() (is need, loggingIn int)) {
	look := time.NewTicker(a.after / looksPerQuiet)
	defer look.Stop()
	last, _ := ask()
	for since := a.clock.monotonic(); ; {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
		is, loggingIn := ask()
		switch now := a.clock.monotonic(); {
		case is != last:
			last, since = is, now
		case now-since >= a.after && loggingIn == 0 && a.wait.Load() == 0:
			a.heard = is.wants
			a.now.Store(&period{quiet: a.clock.wall(), answering: make(chan struct{})})
			return
		}
	}
}

// rest waits for a want since the node became quiet, or until ctx ends.
func (a *attendance) rest(ctx context.Context) {
	for a.wants.Load() == a.heard {
		select {
		case <-a.bell:
		case <-ctx.Done():
			return
		}
	}
	next := *a.now.Load()
	next.woken, next.at = a.clock.wall(), a.clock.monotonic()
	a.now.Store(&next)
}

// patience is how long a draw may wait for IDs of a period.
func (a *attendance) patience(p *period) time.Duration {
	switch {
	case p.quiet.IsZero():
		return 0
	case p.isQuiet():
		return wakePatience
	}
	return wakePatience - (a.clock.monotonic() - p.at)
}

// wakes is about a draw that has failed. If the node is quiet, or was just before, it waits for IDs. Then it is true:
// the next draw gets one, or the reason why there is none.
func (a *attendance) wakes(ctx context.Context) bool {
	a.want()
	p := a.now.Load()
	left := a.patience(p)
	if left <= 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	a.wait.Add(1)
	defer a.wait.Add(-1)
	select {
	case <-p.answering:
	case <-ctx.Done():
	}
	return true
}

// fill adds whether the node is quiet.
func (a *attendance) fill(s *report.State) {
	p := a.now.Load()
	s.Woken = p.woken
	if p.isQuiet() {
		s.QuietSince = p.quiet
	}
}

// hooks are what proxy and ID database call for their clients: want and wakes. Nil: the node is never quiet.
func (a *attendance) hooks() (wanted func(), retry func(context.Context) bool) {
	if a.after == 0 {
		return nil, nil
	}
	return a.want, a.wakes
}
