package idserver

import (
	"context"
	"sync"

	"pgflurry/fault"
)

// Drain ends all sessions and returns when none is left. Sessions at rest outside a transaction end at once, others at
// the end of their transaction, and all of them when ctx ends. Clients that are logging in are sent away at once.
// Afterwards Serve refuses clients.
func (v *Server) Drain(ctx context.Context) {
	v.draining.Store(true)
	v.register.close()
	for _, s := range v.register.sessions() {
		interrupt(s.conn)
	}
	var kills sync.WaitGroup
	defer kills.Wait()
	for {
		left, changed := v.register.close()
		if left == 0 {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			v.log.Warn("drain timeout: sessions of the ID database are ended", "sessions", left)
			for _, s := range v.register.sessions() {
				kills.Go(func() { s.endFor(closedDrain, fault.Draining) })
			}
			ctx = context.Background() // killed sessions end by themselves
		}
	}
}

// EndSessionsOf ends the sessions of users whose accounts were removed, and returns how many. It does not wait for the
// clients. Call it once Settings.Accounts gives the new list: a login that is under way looks at that at its end.
func (v *Server) EndSessionsOf(removed func(user string) bool) int {
	theirs := v.register.placedOf(removed)
	for _, s := range theirs {
		go s.endFor(closedRemoved, errRemoved)
	}
	return len(theirs)
}
