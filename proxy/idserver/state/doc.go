// Package state is what a session of the ID database has beside its connection: settings, prepared statements, portals,
// cursors, and a transaction. It runs all commands that need no ID.
//
//	message.go ─► query.go, extended.go ─┬─► objects.go, portal.go    statements and portals
//	(fields)      what a message asks    ├─► rows.go ─► show.go       rows without IDs; what they look like: shape.go
//	                                     └─► commands.go ─┬─► transaction.go   blocks, savepoints, rollbacks
//	                                                      └─► set.go           SET and RESET
//
//	parameters.go   the settings                                     values.go   their values
//	kept.go         how much all of this takes                       errors.go   errors of statements
//
// Package idserver hands in the bodies of messages. It draws the IDs, and writes all replies.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. There is no I/O, no goroutine, no lock and no clock: a session has one owner.
//  2. What a client makes is counted in Kept while it is there, and no longer. It never exceeds MaxKept.
package state
