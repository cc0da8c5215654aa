package idserver

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// Wrong passwords are limited for an address and a name, and for an address in all. So nobody tries passwords faster
// than that, and one misconfigured program does not lock out the others of its machine. Names that exist and names that
// do not are counted alike, and what a client is told does not depend on it either.
//
// It is told apart from a wrong password, with the seconds to wait: a person who has mistyped, and then has the right
// password, would look for a mistake that is not there. Whoever tries passwords knows the pace anyway.
//
// A right password costs nothing and gives nothing back: else a program that logs in often would give an attacker at
// the same address a fresh burst each time.
var (
	ofName    = pace{burst: 10, interval: 5 * time.Second}
	ofAddress = pace{burst: 100, interval: time.Second}
)

// maxTried is how many addresses and names a generation of attempts has at most. Each takes about 100 bytes.
const maxTried = 8192

// pace is how many wrong passwords there may be: a burst at once, then one in each interval.
type pace struct {
	burst    int
	interval time.Duration
}

// attempts are the wrong passwords of late. For each key they keep when the last of them is forgotten, if one is
// forgotten in each interval: then a burst is possible again. Keys are kept in two generations; where the younger one
// is full it becomes the older, and that is forgotten. Its methods are safe for concurrent use.
type attempts struct {
	seed  maphash.Seed
	most  int
	since time.Time

	mu           sync.Mutex
	young, older map[attemptKey]time.Duration // since since
}

// attemptKey is an address, with or without a name, of which there is a hash: a name may be long.
type attemptKey struct {
	from netip.Prefix
	name uint64 // 0: all of the address
}

func newAttempts(now time.Time) *attempts {
	return &attempts{
		seed: maphash.MakeSeed(), most: maxTried, since: now, young: make(map[attemptKey]time.Duration),
	}
}

func (a *attempts) keys(from netip.Prefix, name string) (ofName, ofAddress attemptKey) {
	return attemptKey{from, maphash.String(a.seed, name) | 1}, attemptKey{from: from}
}

// wait is how long it takes until another password of a name may be tried from an address; 0: now. all says that the
// address has to wait whatever the name.
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

// lookLocked is when the last one is forgotten: at once where there was none.
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

// wait is how long nothing may be tried, at a time, if the last one is forgotten at until.
func (p pace) wait(until, at time.Duration) time.Duration {
	return max(until-at-time.Duration(p.burst-1)*p.interval, 0)
}

// after is when the last one is forgotten if there is one more. Those that were on their way at once may exceed the
// burst; what is owed stays below two bursts, so that a storm locks nobody out for long.
func (p pace) after(until, at time.Duration) time.Duration {
	return min(max(until, at)+p.interval, at+2*time.Duration(p.burst)*p.interval)
}
