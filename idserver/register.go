package idserver

import (
	"sync"

	"pgflurry/fault"
)

// register has all clients, from their startup packet until their end, and the places of those that have logged in. Its
// methods are safe for concurrent use.
type register struct {
	mu      sync.Mutex
	all     map[*session]struct{} // including those that are logging in
	ofUser  map[string]int        // sessions that are logged in
	placed  int                   // the same, of all users
	closed  bool                  // no further session
	changed chan struct{}         // closed and replaced when a session leaves
	ended   sums                  // of the sessions that are over
}

func newRegister() register {
	return register{
		all: make(map[*session]struct{}), ofUser: make(map[string]int), changed: make(chan struct{}),
	}
}

// enter adds a client that wants to log in.
func (r *register) enter(s *session) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return fault.NotAccepting
	}
	r.all[s] = struct{}{}
	return nil
}

// admit gives a place to a client that proved who it is. most is how many places there are. allows says whether the
// user may have one more session than so many.
func (r *register) admit(s *session, most int, allows func(sessions int) bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return fault.NotAccepting
	case most > 0 && r.placed >= most:
		return errTooMany
	case !allows(r.ofUser[s.user]):
		return fault.Errorf("53300", "", `too many connections for role "%s"`, s.user)
	}
	s.placed = true
	r.placed++
	r.ofUser[s.user]++
	r.ended.opened++
	return nil
}

// leave removes a client, and frees its place.
func (r *register) leave(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, s)
	r.ended.add(s)
	if s.placed {
		r.placed--
		if r.ofUser[s.user]--; r.ofUser[s.user] == 0 {
			delete(r.ofUser, s.user)
		}
		r.ended.closed[s.closedFor()]++
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

// close stops new clients. It returns how many are left, and a channel that is closed when that changes.
func (r *register) close() (left int, changed chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return len(r.all), r.changed
}

// sessions returns all present clients.
func (r *register) sessions() []*session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessionsLocked()
}

func (r *register) sessionsLocked() []*session {
	all := make([]*session, 0, len(r.all))
	for s := range r.all {
		all = append(all, s)
	}
	return all
}

// placedOf returns the sessions of these users that have a place.
func (r *register) placedOf(of func(user string) bool) (theirs []*session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.all {
		if s.placed && of(s.user) {
			theirs = append(theirs, s)
		}
	}
	return theirs
}

func (x *sums) add(s *session) {
	for k := range s.counts.answers {
		x.answers[k] += s.counts.answers[k].Load()
	}
	for k := range s.counts.refused {
		x.refused[k] += s.counts.refused[k].Load()
	}
	x.ids += s.counts.ids.Load()
	x.numbers += s.counts.numbers.Load()
	x.toClient += s.ToClient.Written()
}
