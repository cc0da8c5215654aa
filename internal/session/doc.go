// Package session is the session of a command that changes a database: one connection, one lock, and writes that are
// looked at.
//
//	Open ──► Facts ──► Lock ──► InTransaction, Write, Script ──► Close
//	         server,    one advisory lock       a warning, or no row changed, is an error
//	         rights     for each database
//
// The settings of a role or a database do not matter in it. Open sets what could end a statement, or leave a guard
// without effect. Errors say what was being done, and what the operator can do about it.
//
// What holds:
//
//  1. Sessions that change one database exclude each other. A session holds the lock from the first write to the last,
//     and does all the writing. If it is lost, it writes no more.
//  2. A write counts only if its acknowledgement is clean: no warning, and the row has changed.
//
// A Database belongs to one goroutine.
package session
