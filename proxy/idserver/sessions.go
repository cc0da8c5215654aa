package idserver

import (
	"context"

	"pgflurry/proxy/internal/frontend"
)

// Drain ends all sessions and returns when none is left. Sessions at rest outside a transaction end at once, others at
// the end of their transaction, and all of them when ctx ends. Clients that are logging in are sent away at once.
// Afterwards Serve refuses clients.
func (v *Server) Drain(ctx context.Context) {
	v.register.Drain(ctx, func(left int) {
		v.log.Warn("drain timeout: sessions of the ID database are ended", "sessions", left)
	})
}

// EndSessionsOf ends the sessions of users whose accounts were removed, and returns how many. It does not wait for the
// clients. Call it once Settings.Accounts gives the new list: a login that is under way looks at that at its end.
func (v *Server) EndSessionsOf(removed func(user string) bool) (ended int) {
	all, _ := v.register.Open()
	for _, s := range all {
		if s.hasSlot.Load() && removed(s.user) {
			ended++
			go s.endFor(frontend.ClosedRemoved, errRemoved)
		}
	}
	return ended
}
