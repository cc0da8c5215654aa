package idserver

import (
	"sync"

	"pgflurry/fault"
	"pgflurry/proxy/frontend"
)

// places are those of sessions that have logged in. Its methods are safe for concurrent use.
type places struct {
	mu     sync.Mutex
	taken  int
	ofUser map[string]int
}

// take takes a place for a client that has proved who it is. most is how many places there are. allows says whether the
// user may have one more session than so many.
func (p *places) take(user string, most int, allows func(sessions int) bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case most > 0 && p.taken >= most:
		return errTooMany
	case !allows(p.ofUser[user]):
		return fault.Errorf("53300", "", `too many connections for role "%s"`, user)
	}
	p.taken++
	p.ofUser[user]++
	return nil
}

// give gives a place back.
func (p *places) give(user string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if p.ofUser[user]--; p.ofUser[user] == 0 {
		delete(p.ofUser, user)
	}
}

// full says whether so many places are taken.
func (p *places) full(most int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return most > 0 && p.taken >= most
}

// AddTo adds the session's counters.
func (s *session) AddTo(x *frontend.Sums) {
	if s.placed.Load() {
		x.Opened++
	}
	x.Add(&s.counts.Counts)
	for k := range s.counts.refused {
		x.Refused[k] += s.counts.refused[k].Load()
	}
	x.ToClient += s.ToClient.Written()
}
