package proxy

import (
	"context"
	"sync"
	"sync/atomic"

	"pgflurry/proxy/statement"
)

// registry knows the sessions that are open, and the connections that may become one. Its methods are safe for
// concurrent use.
type registry struct {
	draining atomic.Bool // each session ends when it can

	mu       sync.Mutex
	sessions map[*ends]struct{}
	keys     map[string]*ends // by their cancel keys
	arriving int              // accepted connections that are neither sessions yet nor over
	closed   bool             // no further session
	ended    sums             // of the sessions that are over
	changed  chan struct{}    // closed and replaced when a session ends or a connection arrives
}

// sums are the counters of many sessions.
type sums struct {
	opened               int64
	answers              [statement.FormKinds]int64
	ids, numbers         int64
	toUpstream, toClient int64
	closed               [reasons]int64
}

func (x *sums) add(e *ends) {
	for k := range e.counts.atOnce {
		x.answers[k] += e.counts.atOnce[k].Load()
	}
	x.ids += e.counts.ids.Load()
	x.numbers += e.counts.numbers.Load()
	x.toUpstream += e.upstream.written.Load()
	x.toClient += e.toClient.Written()
}

// begin makes the registry ready for its first session.
func (r *registry) begin() {
	r.sessions, r.keys, r.changed = make(map[*ends]struct{}), make(map[string]*ends), make(chan struct{})
}

// enter adds a session, if any may still begin.
func (r *registry) enter(e *ends) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return clientError{failure: failNotAccepting}
	}
	r.sessions[e] = struct{}{}
	r.ended.opened++
	return nil
}

// leave removes a session that is over, and keeps its counts.
func (r *registry) leave(e *ends) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sessions, e)
	if r.keys[e.key] == e {
		delete(r.keys, e.key)
	}
	r.ended.add(e)
	r.ended.closed[e.closedFor()]++
	r.changedLocked()
}

// isClosed says whether no further session may begin.
func (r *registry) isClosed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// open returns the sessions that are open, and the sums of those that are over.
func (r *registry) open() ([]*ends, sums) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*ends, 0, len(r.sessions))
	for e := range r.sessions {
		all = append(all, e)
	}
	return all, r.ended
}

func (r *registry) each(f func(*ends)) {
	all, _ := r.open()
	for _, e := range all {
		f(e)
	}
}

// close lets no further session begin. It returns how many are open, and what is closed when that changes.
func (r *registry) close() (left int, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return len(r.sessions), r.changed
}

// setKey replaces the key with which a client cancels the session's statements.
func (r *registry) setKey(e *ends, key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keys[e.key] == e {
		delete(r.keys, e.key)
	}
	e.key = key
	r.keys[key] = e
}

// ofKey finds the session of a key; nil if there is none.
func (r *registry) ofKey(key string) *ends {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.keys[key]
}

// arrives counts an accepted connection.
func (r *registry) arrives() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arriving++
}

// arrived says that an accepted connection is a session now, or is over.
func (r *registry) arrived() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arriving--
	r.changedLocked()
}

// settle waits until no connection is arriving, or until ctx ends.
func (r *registry) settle(ctx context.Context) {
	for {
		r.mu.Lock()
		arriving, changed := r.arriving, r.changed
		r.mu.Unlock()
		if arriving == 0 {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (r *registry) changedLocked() {
	close(r.changed)
	r.changed = make(chan struct{})
}
