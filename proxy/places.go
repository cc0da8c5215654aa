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

// takePlace takes the place of one more session, and waits for one that is about to be given back, until the login has to be over. It is
// given back when nothing comes of the session (givePlace), or when that has ended (forget).
func (p *Proxy) takePlace(from origin, login time.Time) error {
	for {
		changed, err := p.tryPlace()
		if changed == nil {
			return err
		}
		if !p.limits.placed.makeRoom(from) {
			return err
		}
		late := time.NewTimer(time.Until(login))
		select {
		case <-changed:
			late.Stop()
		case <-late.C:
			return err
		}
	}
}

// tryPlace takes a place. Where all are taken, changed is closed when that may have changed.
func (p *Proxy) tryPlace() (changed <-chan struct{}, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return nil, clientError{code: failNotAccepting}
	case p.maxSessions > 0 && p.places >= p.maxSessions:
		return p.changed, clientError{failTooMany, fmt.Errorf("%d sessions are open or about to be", p.places)}
	}
	p.places++
	return nil, nil
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
