package idserver

import (
	"hash/maphash"
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

// maxTried is the largest number of addresses and names in a generation of attempts. Each takes about 100 bytes.
const maxTried = 8192

// pace is how many wrong passwords are allowed: a burst at once, then one in each interval.
type pace struct {
	burst    int
	interval time.Duration
}

// attempts has the recent wrong passwords. One is forgotten in each interval. For each key it keeps the time at which
// the last one will be forgotten; from then on a whole burst is possible again. The keys are in two generations. When
// the younger one is full, it becomes the older one, and the old keys are forgotten. The methods are safe for
// concurrent use.
type attempts struct {
	seed  maphash.Seed
	most  int
	since time.Time

	mu           sync.Mutex
	young, older map[attemptKey]time.Duration // from since
}

// attemptKey is an address, alone or with a name. It has a hash of the name, because names may be long.
type attemptKey struct {
	from netip.Prefix
	name uint64 // 0: the whole address
}

func newAttempts(now time.Time) *attempts {
	return &attempts{
		seed: maphash.MakeSeed(), most: maxTried, since: now, young: make(map[attemptKey]time.Duration),
	}
}

func (a *attempts) keys(from netip.Prefix, name string) (ofName, ofAddress attemptKey) {
	return attemptKey{from, maphash.String(a.seed, name) | 1}, attemptKey{from: from}
}

// wait is how long a client at this address has to wait before its next password for the name; 0: not at all. all says
// that the address has to wait for every name.
func (a *attempts) wait(from netip.Prefix, name string, now time.Time) (wait time.Duration, all bool) {
	named, address := a.keys(from, name)
	at := now.Sub(a.since)
	a.mu.Lock()
	defer a.mu.Unlock()
	forName := ofName.wait(a.lookLocked(named, at), at)
	forAddress := ofAddress.wait(a.lookLocked(address, at), at)
	return max(forName, forAddress), forAddress > forName
}

// wrong counts a wrong password.
func (a *attempts) wrong(from netip.Prefix, name string, now time.Time) {
	named, address := a.keys(from, name)
	at := now.Sub(a.since)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.setLocked(named, ofName.after(a.lookLocked(named, at), at))
	a.setLocked(address, ofAddress.after(a.lookLocked(address, at), at))
}

// lookLocked is the time at which the last wrong password is forgotten. It is now if there was none.
func (a *attempts) lookLocked(k attemptKey, at time.Duration) time.Duration {
	until, ok := a.young[k]
	if !ok {
		until, ok = a.older[k]
	}
	if !ok {
		return at
	}
	return until
}

func (a *attempts) setLocked(k attemptKey, until time.Duration) {
	if _, ok := a.young[k]; !ok && len(a.young) >= a.most {
		a.older, a.young = a.young, make(map[attemptKey]time.Duration)
	}
	a.young[k] = until
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
