package proxy

import (
	"net/netip"
	"sync"
	"time"
)

// fairTime is how long one of a crowd may stay whoever else comes.
// A login takes less, but for one of a person who types.
const fairTime = 5 * time.Second

// crowd is a limited number of places for clients of whom nobody knows yet who they are. Where it is full, somebody
// gives way to a newcomer, or the newcomer is refused:
//
//   - the oldest from the address that has most of them, if those are more than the newcomer's address would have: who
//     takes many places from one address locks out nobody else;
//   - otherwise the oldest of all, if it has had its time: places are not held for as long as a timeout lasts;
//   - otherwise nobody. Of many honest clients that come at once, those that are at it finish, and the others come
//     again.
//
// Its methods are safe for concurrent use.
type crowd struct {
	fairTime time.Duration

	mu       sync.Mutex
	most     int // members; no limit if zero
	mostEach int // members from one origin; no limit if zero
	count    int
	from     map[netip.Prefix][]*member // oldest first
	left     chan struct{}              // closed and replaced when somebody leaves
}

// member is one of a crowd.
type member struct {
	from  netip.Prefix
	since time.Time
	away  func()        // makes it go; does not block
	sent  bool          // it was made to go
	gone  chan struct{} // closed by who has entered it, when nothing of it is left
}

func newCrowd(most, mostEach int, fairTime time.Duration) *crowd {
	return &crowd{
		most: most, mostEach: mostEach, fairTime: fairTime,
		from: make(map[netip.Prefix][]*member), left: make(chan struct{}),
	}
}

// limit replaces how many there may be. Nobody who is in has to go for it.
func (c *crowd) limit(most, mostEach int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.most, c.mostEach = most, mostEach
}

// enter takes a place; nil where there is none. Whoever gives way is sent away, and counts no more.
// away must not block.
func (c *crowd) enter(from netip.Prefix, away func()) *member {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if own := c.from[from]; c.mostEach > 0 && len(own) >= c.mostEach {
		if now.Sub(own[0].since) < c.fairTime {
			return nil
		}
		c.sendAway(own[0])
	}
	if c.most > 0 && c.count >= c.most && c.makeRoom(from, now) == nil {
		return nil
	}
	return c.add(from, now, away)
}

// replace is enter in a full crowd, whatever its limit: it says who gives way. Both are nil where nobody does.
func (c *crowd) replace(from netip.Prefix, away func()) (m, before *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if before = c.makeRoom(from, now); before == nil {
		return nil, nil
	}
	return c.add(from, now, away), before
}

func (c *crowd) add(from netip.Prefix, now time.Time, away func()) *member {
	m := &member{from: from, since: now, away: away, gone: make(chan struct{})}
	c.from[from] = append(c.from[from], m)
	c.count++
	return m
}

// wait is enter for those who can wait, until late at most; then it is nil.
func (c *crowd) wait(from netip.Prefix, late time.Time, away func()) *member {
	for {
		c.mu.Lock()
		left := c.left
		c.mu.Unlock()
		if m := c.enter(from, away); m != nil {
			return m
		}
		again := min(time.Until(late), c.fairTime) // after that time somebody has had his
		if again <= 0 {
			return nil
		}
		timer := time.NewTimer(again)
		select {
		case <-left:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// leave gives a place back. It may have been taken away, and m may be nil.
func (c *crowd) leave(m *member) {
	if m == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(m)
}

// sentAway says that somebody had to give way.
func (c *crowd) sentAway(m *member) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return m.sent
}

// makeRoom sends somebody away in favour of one from an origin; nil where nobody is to give way.
func (c *crowd) makeRoom(from netip.Prefix, now time.Time) *member {
	var largest []*member
	var oldest *member
	for _, all := range c.from {
		if len(all) > len(largest) {
			largest = all
		}
		if oldest == nil || all[0].since.Before(oldest.since) {
			oldest = all[0]
		}
	}
	switch {
	case len(largest) > len(c.from[from])+1:
		return c.sendAway(largest[0])
	case oldest != nil && now.Sub(oldest.since) >= c.fairTime:
		return c.sendAway(oldest)
	}
	return nil
}

func (c *crowd) sendAway(m *member) *member {
	c.remove(m)
	m.sent = true
	m.away()
	return m
}

func (c *crowd) remove(m *member) {
	all := c.from[m.from]
	for i, other := range all {
		if other != m {
			continue
		}
		if len(all) == 1 {
			delete(c.from, m.from)
		} else {
			copy(all[i:], all[i+1:])
			all[len(all)-1] = nil
			c.from[m.from] = all[:len(all)-1]
		}
		c.count--
		close(c.left)
		c.left = make(chan struct{})
		return
	}
}
