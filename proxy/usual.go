package proxy

import (
	"net/netip"
	"sync"
)

// mostUsual limits what usual remembers: about 300 kB.
const mostUsual = 4096

// usual are the addresses from which somebody has logged in. nil has none. Its methods are safe for concurrent use.
type usual struct {
	mu        sync.RWMutex
	addresses map[netip.Prefix]struct{}
}

func (u *usual) has(from netip.Prefix) bool {
	if u == nil {
		return false
	}
	u.mu.RLock()
	defer u.mu.RUnlock()
	_, has := u.addresses[from]
	return has
}

// add remembers an address. If there are too many, it forgets any other one, which its next login brings back.
func (u *usual) add(from netip.Prefix) {
	if u.has(from) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for other := range u.addresses {
		if len(u.addresses) < mostUsual {
			break
		}
		delete(u.addresses, other)
	}
	u.addresses[from] = struct{}{}
}
