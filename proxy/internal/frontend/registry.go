package frontend

import (
	"context"
	"sync"
	"sync/atomic"
)

// Session is one of an engine.
type Session interface {
	comparable
	// AddTo adds its counters.
	AddTo(*Sums)
	// Closed is why it ended; StillOpen if that is not to be counted.
	Closed() Reason
	// Interrupt makes it look whether it has to end. It does not block.
	Interrupt()
	// Kill ends it because the drain's time is over.
	Kill()
}

// Registry knows the sessions of an engine, and the connections that may become one. Its methods are safe for
// concurrent use.
type Registry[S Session] struct {
	Draining atomic.Bool // each session ends when it can

	mu       sync.Mutex
	open     map[S]string // their cancel keys; "": none
	keys     map[string]S
	arriving int           // accepted connections that are neither sessions yet nor over
	closed   bool          // no further session
	ended    Sums          // of the sessions that are over
	changed  chan struct{} // closed and replaced when a session ends or a connection arrives
}

// Begin makes the registry ready for its first session.
func (r *Registry[S]) Begin() {
	r.open, r.keys, r.changed = make(map[S]string), make(map[string]S), make(chan struct{})
}

// Enter adds a session; false: no further one may begin.
func (r *Registry[S]) Enter(s S) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.open[s] = ""
	}
	return !r.closed
}

// Leave removes a session that is over, if it has entered, and keeps its counts.
func (r *Registry[S]) Leave(s S) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key, entered := r.open[s]
	if !entered {
		return
	}
	delete(r.open, s)
	if r.keys[key] == s {
		delete(r.keys, key)
	}
	s.AddTo(&r.ended)
	r.ended.ended[s.Closed()]++
	r.notifyLocked()
}

// IsClosed says whether no further session may begin.
func (r *Registry[S]) IsClosed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// Open returns the sessions that are open, and the sums of those that are over.
func (r *Registry[S]) Open() ([]S, Sums) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]S, 0, len(r.open))
	for s := range r.open {
		all = append(all, s)
	}
	return all, r.ended
}

// SetKey replaces the key with which a client cancels the statements of an open session.
func (r *Registry[S]) SetKey(s S, key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.open[s]; r.keys[old] == s {
		delete(r.keys, old)
	}
	r.open[s], r.keys[key] = key, s
}

// OfKey finds the session of a key.
func (r *Registry[S]) OfKey(key string) (s S, found bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, found = r.keys[key]
	return s, found
}

// Drain ends all sessions and returns when none is left. Each may end when it can. When ctx ends, it calls late with
// the number of those that are left, and kills them.
func (r *Registry[S]) Drain(ctx context.Context, late func(left int)) {
	r.Draining.Store(true)
	r.each(S.Interrupt)
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.each(S.Interrupt) // those that have entered meanwhile
	if r.AwaitLeft(ctx, 0) {
		return
	}
	var kills sync.WaitGroup
	defer kills.Wait()
	left, _ := r.Open()
	late(len(left))
	for _, s := range left {
		kills.Go(s.Kill)
	}
	r.AwaitLeft(context.Background(), 0)
}

func (r *Registry[S]) each(f func(S)) {
	all, _ := r.Open()
	for _, s := range all {
		f(s)
	}
}

// AwaitLeft waits until at most so many sessions are open; false: ctx ended before.
func (r *Registry[S]) AwaitLeft(ctx context.Context, most int) bool {
	return r.wait(ctx, func() bool { return len(r.open) <= most })
}

// Arrives counts an accepted connection.
func (r *Registry[S]) Arrives() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arriving++
}

// Arrived says that an accepted connection is a session now, or is over.
func (r *Registry[S]) Arrived() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arriving--
	r.notifyLocked()
}

// Settle waits until no connection is arriving; false: ctx ended before.
func (r *Registry[S]) Settle(ctx context.Context) bool {
	return r.wait(ctx, func() bool { return r.arriving == 0 })
}

// wait waits for a change after which it is done. It looks at that under the lock.
func (r *Registry[S]) wait(ctx context.Context, done func() bool) bool {
	for {
		r.mu.Lock()
		over, changed := done(), r.changed
		r.mu.Unlock()
		if over {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

func (r *Registry[S]) notifyLocked() {
	close(r.changed)
	r.changed = make(chan struct{})
}
