package fresh

import (
	"sync"
	"time"
)

const (
	// perLogin is the time between two places of a Pace.
	perLogin = 500 * time.Millisecond
	// atOnce is how many places are free after a rest.
	atOnce = 4
)

// A Pace gives places to logins, in the order in which they ask: two a second, and four at once after a rest. The zero
// value is ready. Its methods are safe for concurrent use.
type Pace struct {
	mu   sync.Mutex
	next time.Duration // time of the next place
}

// place takes the next place. It returns when the login may begin: at now or later.
func (p *Pace) place(now time.Duration) time.Duration {
	if p == nil {
		return now
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	place := max(p.next, now-(atOnce-1)*perLogin)
	p.next = place + perLogin
	return max(place, now)
}
