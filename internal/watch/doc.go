// Package watch keeps what is known of each database whose sessions the proxy may answer. That is its permission, and
// where its sessions and numbers are. It also knows what the ID database asks of a real server.
//
//	the list of databases ──▶ Databases ── PermissionOf, NumbersOf ──▶ sessions of the proxy
//	                              ▲     └─ State, Tags ──▶ operators
//	                    decisions │
//	                            Watch ── looks every two seconds, through the upstream ──▶ each database
//	                              └──▶ Server: parameters, and whether the ID database hides a real one
//
//	databases.go   the list of databases, and the goroutines for each listed one
//	decision.go    what a look has found, and the permission that follows from it
//	watch.go       may this database be answered: look after look
//	reminders.go   what the log says of it            error_class.go  what a failed look says of a database
//	space.go       is it part of the ID space         mend.go      sequences that a failover made unreadable
//	place.go       do looks agree which one it is     origin.go    which sessions and numbers are of another one
//	server.go      the server behind the ID database
//
// # The list
//
// A database that is listed gets a watch. Once the watch has judged it, its sessions are answered, if they began after
// it was listed for the first time. A database that is removed loses its permission before Prepare's commit returns.
// After that it loses its watch and its source of segments. The start uses the same code for the first list.
//
// Three faults of a database of the first list end Run, if the first look finds them:
//
//   - It belongs to another namespace.
//   - It has the function worker of another database.
//   - Its server has a real database with the name of the ID database.
//
// If a later look finds such a fault, the database only loses its permission. A database that is listed later ends
// nothing either: it gets no permission, and the log has an error.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. What a failing look means decides about the permission. A refusal ends it at once. A server that is away never
//     does. Three looks without an answer end it.
//  2. A session that began before a look found another place is not answered any more: it may be at the old one.
//  3. A database that was taken off the list is not answered, whatever a look finds that began before.
//  4. No decision outlives Run: when that has returned, nothing is answered.
//
// # Goroutines
//
// The caller starts Watch.Run and Databases.Run, ends them through their context, and waits for them. Both run one
// goroutine for each listed database, which ends when the database is removed.
package watch
