package lease

import "time"

// Status is a keeper's state at one moment, for readiness and for people. A plain value.
type Status struct {
	Ready     bool          // IDs can be issued now: a grant is in hand and the clock has not reached its end
	Held      bool          // a lease is in hand; without Ready its grant has ended and could not be renewed
	Worker    int           // of the grant handed out last; -1 before the first
	Term      int64         // of the lease in hand
	Until     int64         // ticks: end of the grant handed out last
	Remaining time.Duration // from the clock to Until; 0 when it has ended
	Failing   time.Duration // how long attempts have granted nothing; 0 while all is well
	Why       string        // the last failure, while Failing; else empty
}

// Status may be called at any time, concurrently with Run.
func (k *Keeper) Status() Status {
	k.mu.Lock()
	s, since := k.status, k.failingSince
	k.mu.Unlock()
	if s.Why != "" {
		s.Failing = max(k.clock.Monotonic()-since, time.Nanosecond)
	}
	if tick := k.clock.Now(); tick != Unset && tick < s.Until && !k.sealed.Load() {
		s.Ready = true
		s.Remaining = k.clock.duration(s.Until - tick)
	}
	return s
}
