package proxy

import (
	"net/netip"
	"slices"
	"sync"
	"time"
)

// fairTime is how long a member of a full crowd may stay, however many newcomers there are. A login takes less, unless
// a person types the password.
const fairTime = 5 * time.Second

// crowd is a limited number of places for clients that have not logged in. If it is full and a newcomer arrives, the
// first of these rules that applies decides. An address from which nobody has logged in before is strange.
//
//   - The oldest member from a strange address gives way to a newcomer from one that is not. So a crowd of strangers
//     keeps none of the usual clients out.
//   - The oldest member from the address with the most members gives way, if that address has more than the newcomer's
//     would have. So a client that takes many places from one address locks out nobody else.
//   - The oldest member of all gives way if it has been there for fairTime. So nobody holds a place until a timeout
//     ends.
//   - Neither of these two rules lets a stranger take the place of a usual client, until those have half of the places.
//   - The crowd refuses the newcomer. If many honest clients come at once, those that have begun finish, and the others
//     try again.
//
// Its methods are safe for concurrent use.
type crowd struct {
	fairTime time.Duration
	usual    *usual

	mu       sync.Mutex
	most     int // members; no limit if zero
	mostEach int // members from one origin; no limit if zero
	count    int
	from     map[netip.Prefix][]*member // oldest first
	waiting  []chan struct{}            // the first one is closed when a member leaves
}

// member is one place that is taken.
type member struct {
	from  netip.Prefix
	since time.Time
	away  func()        // makes it go; does not block
	sent  bool          // it had to give way
	gone  chan struct{} // the caller of enter closes it when nothing of the member is left
}

func newCrowd(most, mostEach int, fairTime time.Duration, usual *usual) *crowd {
	return &crowd{
		most: most, mostEach: mostEach, fairTime: fairTime, usual: usual,
		from: make(map[netip.Prefix][]*member),
	}
}

// limit replaces the limits. No present member has to go.
func (c *crowd) limit(most, mostEach int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.most, c.mostEach = most, mostEach
}

// enter takes a place; it returns nil if there is none. A member that gives way no longer counts. An origin that is at
// its own limit can only replace its oldest member, once that has been there for fairTime. away must not block.
func (c *crowd) enter(from netip.Prefix, away func()) *member {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.enterLocked(from, away)
}

func (c *crowd) enterLocked(from netip.Prefix, away func()) *member {
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

// replace enters a full crowd, whatever its limit, and returns the member that gives way. If none does, both are nil.
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

// wait is enter for a client that can wait until late. After that it returns nil. Each member that leaves wakes one of
// those that wait, the first. A newcomer may be faster: then that one waits again.
func (c *crowd) wait(from netip.Prefix, late time.Time, away func()) *member {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		m := c.enterLocked(from, away)
		again := min(time.Until(late), c.fairTime) // by then some member has been there for fairTime
		if m != nil || again <= 0 {
			return m
		}
		turn, timer := make(chan struct{}), time.NewTimer(again)
		c.waiting = append(c.waiting, turn)
		c.mu.Unlock()
		select {
		case <-turn:
		case <-timer.C:
		}
		timer.Stop()
		c.mu.Lock()
		if i := slices.Index(c.waiting, turn); i >= 0 {
			c.waiting = slices.Delete(c.waiting, i, i+1)
		}
	}
}

// leave gives a place back. The member may have lost it before, and m may be nil.
func (c *crowd) leave(m *member) {
	if m == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.remove(m) && len(c.waiting) > 0 {
		close(c.waiting[0])
		c.waiting = slices.Delete(c.waiting, 0, 1)
	}
}

// sentAway says whether the member had to give way.
func (c *crowd) sentAway(m *member) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return m.sent
}

// makeRoom makes one member give way to a newcomer from this origin; nil if none has to.
func (c *crowd) makeRoom(from netip.Prefix, now time.Time) *member {
	var largest []*member
	var oldest, stranger *member
	isUsual := c.usual.has(from)
	spared := !isUsual && 2*c.usualMembers() <= c.count
	for origin, all := range c.from {
		strange := !c.usual.has(origin)
		if strange && (stranger == nil || all[0].since.Before(stranger.since)) {
			stranger = all[0]
		}
		if spared && !strange {
			continue
		}
		if len(all) > len(largest) {
			largest = all
		}
		if oldest == nil || all[0].since.Before(oldest.since) {
			oldest = all[0]
		}
	}
	switch {
	case isUsual && stranger != nil:
		return c.sendAway(stranger)
	case len(largest) > len(c.from[from])+1:
		return c.sendAway(largest[0])
	case oldest != nil && now.Sub(oldest.since) >= c.fairTime:
		return c.sendAway(oldest)
	}
	return nil
}

// usualMembers counts those from addresses that are not strange.
func (c *crowd) usualMembers() (n int) {
	for origin, all := range c.from {
		if c.usual.has(origin) {
			n += len(all)
		}
	}
	return n
}

func (c *crowd) sendAway(m *member) *member {
	c.remove(m)
	m.sent = true
	m.away()
	return m
}

// remove is false if the member has no place any more.
func (c *crowd) remove(m *member) bool {
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
		return true
	}
	return false
}
