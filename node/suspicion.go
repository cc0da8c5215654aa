package node

import (
	"context"

	"pgflurry/lease"
)

// suspect says that an address may lead to another server since now. All connections that the node keeps count as old,
// and the looks and the lease's renewal come at once. It forbids nothing and waits for nobody. However often it is
// called, logins keep their pace (package fresh). Reasons are:
//
//   - upstream ended a session whose client was still there
//   - a connection of the node was lost, or another server refused its login (package fresh raises these)
//   - Reload
//   - another primary (followPrimary)
//   - a look finds another place (databaseWatch.compare raises it)
func (n *Node) suspect() { n.rules.Suspicion.Raise() }

// passOn tells the keeper of each suspicion until ctx ends.
func (n *Node) passOn(ctx context.Context, keeper *lease.Keeper) {
	for next := n.rules.Suspicion.Next(); ; {
		select {
		case <-next:
			next = n.rules.Suspicion.Next()
			keeper.Suspect()
		case <-ctx.Done():
			return
		}
	}
}
