package admission

import (
	"net/netip"
	"sync"
	"time"
)

// FairTime is how long a full limit waits for the client of a member, however many newcomers there are. A client takes
// less, unless a person types the password.
const FairTime = 5 * time.Second

// Limit is a limited number of slots for connections that have not logged in. If it is full and a newcomer arrives, the
// first of these rules that applies decides. An address is unknown if nobody has logged in from there.
//
//   - A member from an unknown address gives way to a newcomer from a known one. So any number of unauthenticated
//     connections keeps none of the usual clients out.
//   - A member from the address with the most members gives way, if that address has more than the newcomer's would
//     have. So a client that takes many slots from one address locks out nobody else.
//   - The member whose client has had the longest turn gives way if that took FairTime. So nobody holds a slot until a
//     timeout ends.
//   - Neither of these two rules lets an unknown address take the slot of a known one, until those have half of the
//     slots.
//   - The limit refuses the newcomer. If many honest clients come at once, those that have begun finish, and the others
//     try again.
//
// Of several members the one gives way whose client has had the longest turn. A member that waits for PostgreSQL has no
// age: its client can do nothing. If all of them wait, the newest gives way, since it loses least (Slot.before).
//
// Its methods are safe for concurrent use.
type Limit struct {
	fairTime time.Duration
	known    *addresses

	mu       sync.Mutex
	most     int // members; no limit if zero
	mostEach int // members from one origin; no limit if zero
	count    int
	from     map[netip.Prefix][]*Slot // oldest first
	waiting  queue
}

// Slot is one that is taken; its connection is a member.
type Slot struct {
	from   netip.Prefix
	since  time.Time     // when the turn began
	served bool          // the turn is PostgreSQL's, not the client's
	away   func()        // makes it go; does not block
	sent   bool          // it had to give way
	gone   chan struct{} // Slots closes it when nothing of the member is left
}

// before says whether a member gives way before another one does.
func (m *Slot) before(other *Slot) bool {
	switch {
	case other == nil:
		return true
	case m.served != other.served:
		return other.served
	case m.served:
		return m.since.After(other.since)
	}
	return m.since.Before(other.since)
}

// firstOf is the member that gives way before all others; nil if there are none.
func firstOf(members []*Slot) (first *Slot) {
	for _, m := range members {
		if m.before(first) {
			first = m
		}
	}
	return first
}

// hadItsTime says whether the member's client has had its turn for as long as is fair.
func (l *Limit) hadItsTime(m *Slot, now time.Time) bool {
	return m != nil && !m.served && now.Sub(m.since) >= l.fairTime
}

func newLimit(most, mostEach int, fairTime time.Duration, known *addresses) *Limit {
	return &Limit{
		most: most, mostEach: mostEach, fairTime: fairTime, known: known,
		from: make(map[netip.Prefix][]*Slot),
	}
}

// Set replaces the limits. No present member has to go.
func (l *Limit) Set(most, mostEach int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.most, l.mostEach = most, mostEach
}

// Enter takes a slot; it returns nil if there is none. A member that gives way no longer counts. An origin that is at
// its own limit can only replace a member of its own that has had its time. away must not block.
func (l *Limit) Enter(from netip.Prefix, away func()) *Slot {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.enterLocked(from, away)
}

func (l *Limit) enterLocked(from netip.Prefix, away func()) *Slot {
	now := time.Now()
	if own := l.from[from]; l.mostEach > 0 && len(own) >= l.mostEach {
		first := firstOf(own)
		if !l.hadItsTime(first, now) {
			return nil
		}
		l.sendAway(first)
	}
	if l.full() && l.makeRoom(from, now) == nil {
		return nil
	}
	return l.add(from, now, away)
}

// turnOf says whose turn it is now: PostgreSQL's, or the client's. m may be nil.
func (l *Limit) turnOf(m *Slot, served bool) {
	if m == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if m.served != served {
		m.served, m.since = served, time.Now()
	}
}

func (l *Limit) full() bool { return l.most > 0 && l.count >= l.most }

// enterServed enters a member that waits for PostgreSQL, if the limit is not full; else it returns nil.
func (l *Limit) enterServed(from netip.Prefix, away func()) *Slot {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full() {
		return nil
	}
	m := l.add(from, time.Now(), away)
	m.served = true
	return m
}

// replace enters a member that waits for PostgreSQL in the place of another one, which it returns. If none gives way,
// both are nil.
func (l *Limit) replace(from netip.Prefix, away func()) (m, before *Slot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if before = l.makeRoom(from, now); before == nil {
		return nil, nil
	}
	m = l.add(from, now, away)
	m.served = true
	return m, before
}

func (l *Limit) add(from netip.Prefix, now time.Time, away func()) *Slot {
	m := &Slot{from: from, since: now, away: away, gone: make(chan struct{})}
	l.from[from] = append(l.from[from], m)
	l.count++
	return m
}

// Wait is Enter for a client that can wait until late. After that it returns nil. Each member that leaves wakes one of
// those that wait, the first. A newcomer may be faster: then that one waits again.
func (l *Limit) Wait(from netip.Prefix, late time.Time, away func()) *Slot {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		m := l.enterLocked(from, away)
		again := min(time.Until(late), l.fairTime) // by then the turn of some member has taken that long
		if m != nil || again <= 0 {
			return m
		}
		l.waiting.wait(&l.mu, again, nil)
	}
}

// Leave gives a slot back. It is false if the member had to give way before. m may be nil.
func (l *Limit) Leave(m *Slot) bool {
	if m == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.remove(m) {
		l.waiting.wake()
	}
	return !m.sent
}

// Len is how many members there are.
func (l *Limit) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// sentAway says whether the member had to give way.
func (l *Limit) sentAway(m *Slot) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return m.sent
}

// makeRoom makes one member give way to a newcomer from this origin; nil if none has to.
func (l *Limit) makeRoom(from netip.Prefix, now time.Time) *Slot {
	var largest []*Slot
	var first, unknown *Slot
	isKnown := l.known.has(from)
	spared := !isKnown && 2*l.knownMembers() <= l.count
	for origin, all := range l.from {
		ofAll := firstOf(all)
		isUnknown := !l.known.has(origin)
		if isUnknown && ofAll.before(unknown) {
			unknown = ofAll
		}
		if spared && !isUnknown {
			continue
		}
		if len(all) > len(largest) {
			largest = all
		}
		if ofAll.before(first) {
			first = ofAll
		}
	}
	switch {
	case isKnown && unknown != nil:
		return l.sendAway(unknown)
	case len(largest) > len(l.from[from])+1:
		return l.sendAway(firstOf(largest))
	case l.hadItsTime(first, now):
		return l.sendAway(first)
	}
	return nil
}

// knownMembers counts those from known addresses.
func (l *Limit) knownMembers() (n int) {
	for origin, all := range l.from {
		if l.known.has(origin) {
			n += len(all)
		}
	}
	return n
}

func (l *Limit) sendAway(m *Slot) *Slot {
	l.remove(m)
	m.sent = true
	m.away()
	return m
}

// remove is false if the member has no slot any more.
func (l *Limit) remove(m *Slot) bool {
	all := l.from[m.from]
	for i, other := range all {
		if other != m {
			continue
		}
		if len(all) == 1 {
			delete(l.from, m.from)
		} else {
			copy(all[i:], all[i+1:])
			all[len(all)-1] = nil
			l.from[m.from] = all[:len(all)-1]
		}
		l.count--
		return true
	}
	return false
}
