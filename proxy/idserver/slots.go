package idserver

import (
	"sync"

	"pgflurry/internal/fault"
	"pgflurry/proxy/internal/frontend"
)

// slots are those of sessions that have logged in. Its methods are safe for concurrent use.
type slots struct {
	mu     sync.Mutex
	taken  int
	ofUser map[string]int
}

// acquire takes a slot for a client that has proved who it is. most is how many slots there are. allows says whether
// the user may have one more session than so many.
func (s *slots) acquire(user string, most int, allows func(sessions int) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case most > 0 && s.taken >= most:
		return errTooMany
	case !allows(s.ofUser[user]):
		return fault.Errorf("53300", "", `too many connections for role "%s"`, user)
	}
	s.taken++
	s.ofUser[user]++
	return nil
}

// release gives a slot back.
func (s *slots) release(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	if s.ofUser[user]--; s.ofUser[user] == 0 {
		delete(s.ofUser, user)
	}
}

// full says whether so many slots are taken.
func (s *slots) full(most int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return most > 0 && s.taken >= most
}

// AddTo adds the session's counters.
func (s *session) AddTo(x *frontend.Sums) {
	if s.hasSlot.Load() {
		x.Opened++
	}
	x.Add(&s.counts.Counts)
	for k := range s.counts.refused {
		x.Refused[k] += s.counts.refused[k].Load()
	}
	x.ToClient += s.ToClient.Written()
}
