package proxy

import (
	"fmt"
	"net"
	"time"
)

// A place is one of Settings.MaxSessions: a connection to upstream. It is taken before upstream is reached, since upstream then has a
// process for the session, whether or not its client ever sends a password. So that strangers cannot hold all of them until a timeout
// ends, one that has not logged in gives way to a newcomer as the crowd of them decides; a session that has logged in never does. The
// newcomer waits until the other's connections are closed, so that upstream never has more.

// takePlace takes the place of one more session, and waits for one that somebody gives way with, until the login has to be over. It is
// given back when nothing comes of the session (givePlace), or when that has ended (forget).
//
// A place that somebody gives way with is promised to whoever made him: else others who wait would take it. While places are promised the
// crowd is smaller than it will be, so who finds nobody to give way then waits as well, and looks again.
func (p *Proxy) takePlace(from origin, login time.Time) error {
	patient, promised := time.Now().Add(p.limits.placed.fairTime), false
	if patient.After(login) {
		patient = login
	}
	for {
		changed, moving, err := p.tryPlace(from, &promised)
		switch {
		case changed == nil:
			return err
		case promised && until(changed, login), moving && until(changed, patient):
			continue
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if promised {
			p.promised--
			p.changedLocked()
		}
		return err
	}
}

// tryPlace takes a place, or makes somebody give way, which *promised then says. Where none is to be had yet, changed is closed when that
// may have changed; moving says that others wait for places that were promised.
func (p *Proxy) tryPlace(from origin, promised *bool) (changed <-chan struct{}, moving bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	others := p.promised
	if *promised {
		others--
	}
	switch {
	case p.closed:
		err = clientError{code: failNotAccepting}
	case p.maxSessions == 0 || p.places+others < p.maxSessions, *promised && p.places < p.maxSessions:
		p.places++
	default:
		moving = p.promised > 0
		if !*promised && p.limits.placed.makeRoom(from) {
			*promised = true
			p.promised++
		}
		return p.changed, moving, clientError{failTooMany, fmt.Errorf("%d sessions are open or about to be", p.places)}
	}
	if *promised {
		p.promised--
	}
	return nil, false, err
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

func (p *Proxy) givePlace() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.places--
	p.changedLocked()
}

// strangerAt is a session's entry among those that have a place and have not logged in.
func (p *Proxy) strangerAt(from origin, client net.Conn) *member {
	return p.limits.placed.enter(from, func() { p.giveWay(client) })
}
