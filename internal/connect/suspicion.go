package connect

import "sync"

// A Suspicion is an event: some address may lead to another server since now. All connections that share it count as
// old, and who waits for Next looks again. It says nothing for sure, and forbids nothing. The zero value is ready. Its
// methods are safe for concurrent use.
type Suspicion struct {
	mu    sync.Mutex
	count uint64
	next  chan struct{} // closed at the next Raise; nil if nobody asked for it
}

// Raise makes the event happen. It waits for nobody.
func (s *Suspicion) Raise() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	if s.next != nil {
		close(s.next)
		s.next = nil
	}
}

// Next is closed at the next Raise. Who looks again and again takes it before a look, and so misses none.
func (s *Suspicion) Next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil {
		s.next = make(chan struct{})
	}
	return s.next
}

// raised is how often it was raised.
func (s *Suspicion) raised() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}
