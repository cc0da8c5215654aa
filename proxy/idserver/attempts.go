package idserver

import (
	"container/heap"
	"hash/maphash"
	"math"
	"net/netip"
	"sync"
	"time"
)

// Wrong passwords are limited per address and name, and per address. So nobody can try passwords faster, and a
// misconfigured program does not lock out the others of its machine. Names that do not exist are counted like those
// that do, and the error is the same for both.
//
// A client over the limit gets an error of its own, with the seconds to wait. Without it, a person who mistyped a few
// times and then has the right password would search in vain for a mistake. An attacker knows the pace anyway.
//
// A right password neither costs nor refunds an attempt. If it refunded one, a program that logs in often would give an
// attacker at the same address a new burst each time.
var (
	ofName    = pace{burst: 10, interval: 5 * time.Second}
	ofAddress = pace{burst: 100, interval: time.Second}
)

// maxTried is the largest number of addresses and names with wrong passwords. Each takes about 200 bytes.
const maxTried = 16384

// pace is how many wrong passwords are allowed: a burst at once, then one in each interval.
type pace struct {
	burst    int
	interval time.Duration
}

// attempts has the recent wrong passwords. One is forgotten in each interval. For each key it keeps its debt: the time
// at which the last one will be forgotten. From then on a whole burst is possible again. The methods are safe for
// concurrent use.
//
// When the table is full, the smallest debt goes. So nobody gets rid of a large one by making many small ones. A key
// that is not in the table counts as if it had the largest debt that ever went. So nobody gains by a debt that goes.
// Yet such a key may always try one password, so nobody new is locked out.
type attempts struct {
	seed  maphash.Seed
	most  int
	since time.Time

	mu     sync.Mutex
	debts  map[attemptKey]*debt
	byTime debts         // the same, the smallest first
	gone   time.Duration // the largest debt that went
}

// debt is that of one key.
type debt struct {
	key   attemptKey
	until time.Duration // from attempts.since
	at    int           // in debts
}

// debts is a heap.
type debts []*debt

func (d debts) Len() int           { return len(d) }
func (d debts) Less(i, j int) bool { return d[i].until < d[j].until }
func (d debts) Swap(i, j int)      { d[i], d[j] = d[j], d[i]; d[i].at, d[j].at = i, j }
func (d *debts) Push(x any)        { *d = append(*d, x.(*debt)) }
func (d *debts) Pop() any {
	last := (*d)[len(*d)-1]
	(*d)[len(*d)-1] = nil
	*d = (*d)[:len(*d)-1]
	return last
}

// attemptKey is an address, alone or with a name. It has a hash of the name, because names may be long.
type attemptKey struct {
	from netip.Prefix
	name uint64 // 0: the whole address
}

// newAttempts has no wrong passwords yet.
func newAttempts(now time.Time) *attempts {
	return &attempts{
		seed: maphash.MakeSeed(), most: maxTried, since: now, debts: make(map[attemptKey]*debt), gone: math.MinInt64,
	}
}

func (a *attempts) keys(from netip.Prefix, name string) (ofName, ofAddress attemptKey) {
	return attemptKey{from, maphash.String(a.seed, name) | 1}, attemptKey{from: from}
}

// Wait is how long a client at this address has to wait before its next password for the name; 0: not at all. all says
// that the address has to wait for every name.
func (a *attempts) Wait(from netip.Prefix, name string, now time.Time) (wait time.Duration, all bool) {
	named, address := a.keys(from, name)
	at := now.Sub(a.since)
	a.mu.Lock()
	defer a.mu.Unlock()
	forName := ofName.wait(a.untilLocked(named, ofName, at), at)
	forAddress := ofAddress.wait(a.untilLocked(address, ofAddress, at), at)
	return max(forName, forAddress), forAddress > forName
}

// Wrong counts a wrong password.
func (a *attempts) Wrong(from netip.Prefix, name string, now time.Time) {
	named, address := a.keys(from, name)
	at := now.Sub(a.since)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.raiseLocked(named, ofName, at)
	a.raiseLocked(address, ofAddress, at)
}

// untilLocked is the time at which the last wrong password is forgotten. It is now, or before, if there was none.
func (a *attempts) untilLocked(k attemptKey, p pace, at time.Duration) time.Duration {
	if d := a.debts[k]; d != nil {
		return d.until
	}
	return max(at, min(a.gone, at+time.Duration(p.burst-1)*p.interval))
}

// raiseLocked adds one wrong password to a debt.
func (a *attempts) raiseLocked(k attemptKey, p pace, at time.Duration) {
	until := p.after(a.untilLocked(k, p, at), at)
	if d := a.debts[k]; d != nil {
		d.until = until
		heap.Fix(&a.byTime, d.at)
		return
	}
	if len(a.byTime) >= a.most {
		least := heap.Pop(&a.byTime).(*debt)
		delete(a.debts, least.key)
		a.gone = max(a.gone, least.until)
	}
	d := &debt{key: k, until: until, at: len(a.byTime)}
	a.debts[k] = d
	heap.Push(&a.byTime, d)
}

// wait is how long a client has to wait at a time, if its last wrong password is forgotten at until.
func (p pace) wait(until, at time.Duration) time.Duration {
	return max(until-at-time.Duration(p.burst-1)*p.interval, 0)
}

// after is when the last wrong password is forgotten after one more. Several that arrive at once may exceed the burst.
// The debt is limited to two bursts, so that a storm locks nobody out for long.
func (p pace) after(until, at time.Duration) time.Duration {
	return min(max(until, at)+p.interval, at+2*time.Duration(p.burst)*p.interval)
}
