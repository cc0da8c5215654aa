// Package primary finds out which of several servers is the primary, and when another one takes over.
//
//	db1 ◄── asked each second ─┐
//	db2 ◄──────────────────────┼── watch.go ──► topology.go ──► Primary: db2, until another one begins
//	db3 ◄──────────────────────┘  queries.sql   decides           │
//	                                                              ▼
//	                                      sessions begin at that host, and end with its time
//
// Package node runs a Watch if --upstream names several hosts. The proxy connects each session to the present Primary,
// and ends the session when that host is not the primary any more.
//
// The Watch asks each host three things: whether it is a standby, which WAL timeline it writes, and which cluster it
// belongs to. A promotion begins a higher timeline. So the lower timeline reveals a paused primary that wakes after a
// failover, whatever it believes of itself.
//
// # The primary
//
// Several hosts may say that they are the primary. The Watch chooses one. It stays the primary until
//
//   - the host says that it is a standby, is of another cluster, or writes a lower timeline than before (its name or
//     balancer leads elsewhere),
//   - any host says that it is the primary on a higher timeline. That may be the same host: a balancer in front of
//     several servers.
//
// Silence alone does not end its time. A server that hangs may recover, and meanwhile the proxy gives IDs. If it has
// crashed, its sessions end with their connections. New sessions fail until a standby is promoted.
//
// The next primary is the one on the highest timeline that was ever seen. If several hosts share it, the Watch chooses
// the first in the list. Replication never leads to two primaries on one timeline. If it happens, the chosen one stays.
//
// If a server does not show its timeline, the Watch numbers it by the order in which primaries appear. The first
// answers count as one moment. A later one counts as a promotion if the host was a standby before, or if the present
// primary is silent.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. One host is the primary at a time, and it said so.
//  2. The timelines of primaries, one after the other, never fall.
//  3. Silence ends no primary's time, whichever host is silent.
//  4. A host that says that it is a standby is not the primary, and neither is one below a higher timeline.
//  5. A host of another cluster is never the primary.
//  6. A host that hangs delays no other. It delays the first primary by a second at most.
//  7. The time of each primary is over (Primary.Over has ended) before that of the next one begins.
//
// # Goroutines
//
// Run has one for each host, and one that ends the wait for the first answers. They end with its context.
package primary
