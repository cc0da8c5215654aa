package proxy

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// A place is one of Settings.MaxSessions: a connection to upstream. It is taken before upstream is reached, since
// upstream then has a process for the session, whether or not its client ever sends a password. So that strangers
// cannot hold all of them until a timeout ends, one that has not logged in gives way to a newcomer as the crowd of them
// decides. A session that has logged in never does.
//
// Who gives way has an heir: the newcomer takes over the place at once, and waits until the other's connections are
// closed, so that upstream never has more. The heir may have to give way itself meanwhile; then its own heir waits for
// both. So each place is one of a session that has logged in, or of one of the crowd, at any time.

// takePlace takes the place of one more session, and waits for the one that gives way, until the login has to be over.
// away ends the session if it has to give way itself; it does not block. The place is given back when nothing comes of
// the session, or when that has ended (givePlace).
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

// tryPlace takes a place. before is who gives way, nil where a place was free.
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

// until waits for something to be closed; false: it was not in time.
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

// givePlace gives the place back that was taken with m, to its heir if it has one.
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
