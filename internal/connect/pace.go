package connect

import (
	"sync"
	"time"
)

const (
	// perLogin is the time between two places of a Pace.
	perLogin = 500 * time.Millisecond
	// atOnce is how many logins may begin at once after a rest.
	atOnce = 4
)

// A Pace is a rate limit on logins, in the order in which they ask: two a second, and four at once after a rest. The
// zero value is ready. Its methods are safe for concurrent use.
type Pace struct {
	mu   sync.Mutex
	next time.Duration // when the next login may begin
}

// reserve returns when the login may begin: at now or later.
func (p *Pace) reserve(now time.Duration) time.Duration {
	if p == nil {
		return now
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	begin := max(p.next, now-(atOnce-1)*perLogin)
	p.next = begin + perLogin
	return max(begin, now)
}
