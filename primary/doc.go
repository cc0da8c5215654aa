// Package primary knows which of several servers is the primary.
//
//	db1 ◄── asked each second ─┐
//	db2 ◄──────────────────────┼── watch.go ──► reign.go ──► Reign: db2, until another one begins
//	db3 ◄──────────────────────┘    ask.sql     decides         │
//	                                                            ▼
//	                                    sessions begin at that host, and end with it
//
// A host is asked three things: is it a standby, on which WAL timeline does it write, and of which cluster is it. A
// promotion begins a higher timeline. So a primary that was paused, and wakes when another one was promoted, is told
// by its timeline, whatever it believes of itself.
//
// # Reigns
//
// The primary reigns. Its reign ends when
//
//   - it says that it is a standby, or is of another cluster, or writes on a lower timeline than before (a name or a
//     balancer leads elsewhere),
//   - any host says that it is the primary on a higher timeline. That may be the same host: a balancer in front of
//     several servers.
//
// It does not end because its host says nothing. A server that hangs may go on, and IDs go on meanwhile. If it has
// crashed, its sessions end with their connections, and new ones are refused until a standby is promoted.
//
// The next reign begins for the primary on the highest timeline that was ever seen; of several, for the first in the
// list. Where two primaries are on one timeline, which replication does not bring about, the one that reigns stays.
//
// A server that tells no timeline is given one by the order in which primaries come. The first answers are of one
// moment. Later ones count as promotions if the host was a standby before, or if the reigning host is silent.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. One host reigns at a time, and it said that it is the primary.
//  2. The timelines of reigns never fall.
//  3. Silence ends no reign, whosever it is.
//  4. A host that says that it is a standby does not reign, and neither does one below a higher timeline.
//  5. A host of another cluster never reigns.
//  6. A host that hangs delays no other. It delays the first reign by a second at most.
//  7. Each reign is over before the next one begins, for whoever holds it.
//
// # Goroutines
//
// Run has one for each host, and one that ends the wait for the first answers. They end with its context.
package primary
