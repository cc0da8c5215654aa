package node

import (
	"context"

	"pgflurry/fresh"
	"pgflurry/lease"
)

// A suspicion says that an address may lead to another server since now. All connections that the node keeps count as
// old, and the looks and the lease's renewal come at once. It forbids nothing and waits for nobody. However often it is
// raised, logins keep their pace (package fresh). Reasons are:
//
//   - upstream ended a session whose client was still there
//   - a connection of the node was lost, or another server refused its login (package fresh raises these)
//   - Reload
//   - another primary (followPrimary)
//   - a look finds another place (databaseWatch.compare raises it)
//
// passOn tells the keeper of each suspicion until ctx ends.
func passOn(ctx context.Context, suspicion *fresh.Suspicion, keeper *lease.Keeper) {
	for next := suspicion.Next(); ; {
		select {
		case <-next:
			next = suspicion.Next()
			keeper.Suspect()
		case <-ctx.Done():
			return
		}
	}
}
