package admission

import (
	"net/netip"
	"sync"
)

// mostAddresses limits what addresses remembers: about 300 kB.
const mostAddresses = 4096

// addresses are those from which somebody has logged in. nil has none. Its methods are safe for concurrent use.
type addresses struct {
	mu  sync.RWMutex
	all map[netip.Prefix]struct{}
}

func (a *addresses) has(from netip.Prefix) bool {
	if a == nil {
		return false
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	_, has := a.all[from]
	return has
}

// add remembers an address. If there are too many, it forgets any other one, which its next login brings back.
func (a *addresses) add(from netip.Prefix) {
	if a.has(from) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for other := range a.all {
		if len(a.all) < mostAddresses {
			break
		}
		delete(a.all, other)
	}
	a.all[from] = struct{}{}
}
