// Package acknowledge writes to PostgreSQL so that afterwards one thing is certain: what was acknowledged is there.
//
//	Writer.Write ──► BEGIN · settings · the write · COMMIT · Sync      one round trip
//	             ◄── one row, the right tags, nothing else, ReadyForQuery I      acknowledged: the row
//	             ◄── anything else, or nothing until the deadline                unknown: an error
//
// Unknown means that the write may have happened, may not have, or may still happen. Whoever hands out numbers that it
// has reserved in a table must use nothing of a reservation whose outcome is unknown; what the table holds beyond it is
// a gap.
//
// What an acknowledgement rests on (synchronous_commit above all) is set within the transaction itself, whatever role,
// database or pooler have set: settings.sql.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. Anything but one row, the right tags, no notice, no error and ReadyForQuery I is unknown, and the connection is
//     closed. A notice is no trifle: a commit whose wait for the synchronous standby was cancelled looks like success
//     in every other respect.
//  2. A deadline closes the socket and nothing else: no CancelRequest is sent, which could turn a wait for a standby
//     into an acknowledgement.
package acknowledge
