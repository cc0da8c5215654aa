package admission

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Slots are the connections to upstream that there may be: MaxSessions. At most MaxUpstreamLogins of them have not
// logged in. A session takes one before the proxy connects, because upstream then has a process for it, even if the
// client never sends a password. Clients without a password must not hold all slots until a timeout. So a session that
// has not logged in gives way to a newcomer, as a Limit decides. A session that has logged in never does.
//
// The newcomer inherits the slot at once. It waits until the other session's connections are closed, so that upstream
// never has more connections than slots. Meanwhile the newcomer may have to give way itself. Then its own heir waits
// for both. So at any time each slot belongs to a session that has logged in, or to a member of the limit.
//
// A newcomer that finds too many logins under way waits, but not for long (SlotPatience). When the first of a long
// queue gets its turn, its client has given up, and the login is in vain. Those that come back find a place soon.
//
// Its methods are safe for concurrent use.
type Slots struct {
	waits    *sync.WaitGroup // has what waits for a session that gives way
	patience time.Duration
	waiting  *Limit // those that find too many logins under way

	mu      sync.Mutex
	most    int    // no limit if zero or less
	taken   int    // by sessions, or by clients that are about to become one
	members *Limit // those that have not logged in
	queue   queue  // of those in waiting
}

// SlotPatience is how long a newcomer waits for one of those that log in.
const SlotPatience = 3 * time.Second

// ErrUpstreamLogins means that too many logins are under way at upstream.
var ErrUpstreamLogins = errors.New("too many logins are under way at the PostgreSQL server")

// client is one that asks for a slot.
type client struct {
	from  netip.Prefix
	late  time.Time       // of its login
	away  func()          // ends its session if that has to give way; does not block
	ended func() bool     // says whether it has left
	open  context.Context // until the proxy ends
}

// acquire takes a slot for one more session. It waits for SlotPatience if too many log in. If another session gives
// way, it waits for the end of that one, at most until the client's login is late. The caller gives the slot back when
// the session ends or does not come about. The error is net.ErrClosed if the client has left or had to give way.
func (s *Slots) acquire(c client) (*Slot, error) {
	m, before, err := s.try(c)
	if err == ErrUpstreamLogins {
		m, before, err = s.wait(c)
	}
	if before == nil {
		return m, err
	}
	inTime := until(before.gone, c.late)
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
func (s *Slots) try(c client) (m, before *Slot, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tryLocked(c)
}

func (s *Slots) tryLocked(c client) (m, before *Slot, err error) {
	if s.most <= 0 || s.taken < s.most {
		if m = s.members.enterServed(c.from, c.away); m != nil {
			s.taken++
			return m, nil, nil
		}
		err = ErrUpstreamLogins
	} else {
		err = fmt.Errorf("%d sessions are open or about to be", s.taken)
	}
	if m, before = s.members.replace(c.from, c.away); m != nil {
		err = nil
	}
	return m, before, err
}

// wait is try for a client that waits its turn.
func (s *Slots) wait(c client) (m, before *Slot, err error) {
	ctx, cancel := context.WithCancel(c.open)
	defer cancel()
	place := s.waiting.Enter(c.from, func() { c.away(); cancel() })
	if place == nil {
		return nil, nil, ErrUpstreamLogins
	}
	defer s.waiting.Leave(place)
	late := time.Now().Add(s.patience)
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		left := time.Until(late)
		s.queue.wait(&s.mu, left, ctx.Done())
		if ctx.Err() != nil || c.ended() {
			s.queue.wake() // it was perhaps this one's turn
			return nil, nil, net.ErrClosed
		}
		if m, before, err = s.tryLocked(c); err != ErrUpstreamLogins || left <= 0 {
			return m, before, err
		}
	}
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

// keep says that the session has logged in. It does not give way any more. It is false if it had to before.
func (s *Slots) keep(m *Slot) bool {
	kept := s.members.Leave(m)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.wake()
	return kept
}

// release gives back the slot that was taken with m. An heir keeps it.
func (s *Slots) release(m *Slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.members.Leave(m)
	if !s.members.sentAway(m) {
		s.taken--
	}
	close(m.gone)
	s.queue.wake()
}

// Taken is how many are taken, and how many there are; no limit if most is zero or less.
func (s *Slots) Taken() (taken, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken, s.most
}

// Members is how many sessions have a slot and have not logged in.
func (s *Slots) Members() int { return s.members.Len() }

func (s *Slots) set(most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = most
}
