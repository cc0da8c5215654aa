package admission

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Slots are the connections to upstream that there may be: MaxSessions. A session takes one before the proxy connects,
// because upstream then has a process for it, even if the client never sends a password. Clients without a password
// must not hold all slots until a timeout. So a session that has not logged in gives way to a newcomer, as a Limit
// decides. A session that has logged in never does.
//
// The newcomer inherits the slot at once. It waits until the other session's connections are closed, so that upstream
// never has more connections than slots. Meanwhile the newcomer may have to give way itself. Then its own heir waits
// for both. So at any time each slot belongs to a session that has logged in, or to a member of the limit.
//
// Its methods are safe for concurrent use.
type Slots struct {
	waits *sync.WaitGroup // has what waits for a session that gives way

	mu      sync.Mutex
	most    int    // no limit if zero or less
	taken   int    // by sessions, or by clients that are about to become one
	members *Limit // those that have not logged in
}

// acquire takes a slot for one more session. If another session gives way, it waits for the end of that one, at most
// until login. away ends the new session if that has to give way itself; it does not block. The caller gives the slot
// back when the session ends or does not come about. The error is net.ErrClosed if the new session had to give way.
func (s *Slots) acquire(from netip.Prefix, login time.Time, away func()) (*Slot, error) {
	m, before, err := s.try(from, away)
	if before == nil {
		return m, err
	}
	inTime := until(before.gone, login)
	if inTime && !s.members.sentAway(m) {
		return m, nil
	}
	s.waits.Go(func() {
		<-before.gone
		s.release(m)
	})
	if !inTime {
		return nil, errors.New("the session that gives way does not end")
	}
	return nil, net.ErrClosed
}

// try takes a slot. before is the member that gives way; nil if a slot was free.
func (s *Slots) try(from netip.Prefix, away func()) (m, before *Slot, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.most <= 0 || s.taken < s.most {
		s.taken++
		return s.members.Enter(from, away), nil, nil
	}
	m, before = s.members.replace(from, away)
	if m == nil {
		err = fmt.Errorf("%d sessions are open or about to be", s.taken)
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

// keep says that the session has logged in. It does not give way any more.
func (s *Slots) keep(m *Slot) { s.members.Leave(m) }

// release gives back the slot that was taken with m. An heir keeps it.
func (s *Slots) release(m *Slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.members.Leave(m)
	if !s.members.sentAway(m) {
		s.taken--
	}
	close(m.gone)
}

// Taken is how many are taken, and how many there are; no limit if most is zero or less.
func (s *Slots) Taken() (taken, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken, s.most
}

// Members is how many sessions have a slot that may have to give way.
func (s *Slots) Members() int { return s.members.Len() }

func (s *Slots) set(most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = most
}
