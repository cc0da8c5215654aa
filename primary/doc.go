// Package primary finds out which of several servers is the primary, and when another one takes over.
//
//	db1 ◄── asked each second ─┐
//	db2 ◄──────────────────────┼── watch.go ──► reign.go ──► Reign: db2, until another one begins
//	db3 ◄──────────────────────┘  queries.sql   decides         │
//	                                                            ▼
//	                                    sessions begin at that host, and end with it
//
// Package node runs a Watch if --upstream names several hosts. The proxy connects each session to the host of the
// present Reign, and ends the session with it.
//
// The Watch asks each host three things: whether it is a standby, which WAL timeline it writes, and which cluster it
// belongs to. A promotion begins a higher timeline. So the lower timeline reveals a paused primary that wakes after a
// failover, whatever it believes of itself.
//
// # Reigns
//
// A reign is the time for which one host is the primary. It ends when
//
//   - the host says that it is a standby, is of another cluster, or writes a lower timeline than before (its name or
//     balancer leads elsewhere),
//   - any host says that it is the primary on a higher timeline. That may be the same host: a balancer in front of
//     several servers.
//
// Silence does not end a reign. A server that hangs may recover, and meanwhile the proxy gives IDs. If the server has
// crashed, its sessions end with their connections. New sessions fail until a standby is promoted.
//
// The next reign begins for the primary on the highest timeline that was ever seen. If several hosts share it, the
// first in the list reigns. Replication never leads to two primaries on one timeline. If it happens, the host that
// reigns stays.
//
// If a server does not show its timeline, the Watch numbers it by the order in which primaries appear. The first
// answers count as one moment. A later one counts as a promotion if the host was a standby before, or if the reigning
// host is silent.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. One host reigns at a time, and it said that it is the primary.
//  2. The timelines of reigns never fall.
//  3. Silence ends no reign, whichever host is silent.
//  4. A host that says that it is a standby does not reign, and neither does one below a higher timeline.
//  5. A host of another cluster never reigns.
//  6. A host that hangs delays no other. It delays the first reign by a second at most.
//  7. Each reign is over (Reign.Over has ended) before the next one begins.
//
// # Goroutines
//
// Run has one for each host, and one that ends the wait for the first answers. They end with its context.
package primary
