package proxy

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// A place is one of Settings.MaxSessions: a connection to upstream. A session takes it before the proxy connects,
// because upstream then has a process for it, even if the client never sends a password. Clients without a password
// must not hold all places until a timeout. So a session that has not logged in gives way to a newcomer, as the crowd
// decides. A session that has logged in never does.
//
// The newcomer inherits the place at once. It waits until the other session's connections are closed, so that upstream
// never has more connections than places. Meanwhile the newcomer may have to give way itself. Then its own heir waits
// for both. So at any time each place belongs to a session that has logged in, or to a member of the crowd.

// takePlace takes a place for one more session. If another session gives way, it waits for the end of that one, at most
// until login. away ends the new session if that has to give way itself; it does not block. The caller gives the place
// back with givePlace when the session ends or does not come about.
func (p *Proxy) takePlace(from netip.Prefix, login time.Time, away func()) (*member, error) {
	m, before, err := p.tryPlace(from, away)
	if before == nil {
		return m, err
	}
	inTime := until(before.gone, login)
	if inTime && !p.limits.placed.sentAway(m) {
		return m, nil
	}
	p.conns.Go(func() {
		<-before.gone
		p.givePlace(m)
	})
	if !inTime {
		return nil, clientError{failTooMany, errors.New("the session that gives way does not end")}
	}
	return nil, net.ErrClosed
}

// tryPlace takes a place. before is the member that gives way; nil if a place was free.
func (p *Proxy) tryPlace(from netip.Prefix, away func()) (m, before *member, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return nil, nil, clientError{code: failNotAccepting}
	case p.maxSessions <= 0 || p.places < p.maxSessions:
		p.places++
		return p.limits.placed.enter(from, away), nil, nil
	}
	m, before = p.limits.placed.replace(from, away)
	if m == nil {
		err = clientError{failTooMany, fmt.Errorf("%d sessions are open or about to be", p.places)}
	}
	return m, before, err
}

// until waits until a channel is closed; false: it was not closed in time.
func until(closed <-chan struct{}, late time.Time) bool {
	timer := time.NewTimer(time.Until(late))
	defer timer.Stop()
	select {
	case <-closed:
		return true
	case <-timer.C:
		return false
	}
}

// givePlace gives back the place that was taken with m. An heir keeps it.
func (p *Proxy) givePlace(m *member) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.givePlaceLocked(m)
}

func (p *Proxy) givePlaceLocked(m *member) {
	p.limits.placed.leave(m)
	if !p.limits.placed.sentAway(m) {
		p.places--
	}
	close(m.gone)
	p.changedLocked()
}
