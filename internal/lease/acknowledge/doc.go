// Package acknowledge writes to PostgreSQL and returns a result only if the commit is certain.
//
//	Writer.Write ──► BEGIN · settings · the write · COMMIT · Sync      one round trip
//	             ◄── one row, the right tags, nothing else, ReadyForQuery I      acknowledged: the row
//	             ◄── anything else, or nothing until the deadline                unknown: an error
//
// Unknown means that the write may have happened, may not have, or may still happen. A caller that reserves numbers in
// a table must not use a reservation of unknown outcome. If the table holds it, it is a gap.
//
// An acknowledgement depends on settings, above all on synchronous_commit. The transaction sets them itself
// (settings.sql), so the settings of a role, a database or a pooler do not matter.
//
// The connection is replaced between two writes once it is old (package connect). So a write goes to the server to
// which the address leads now. The next write begins only when the one before is over. The exception is a write that
// may be sent again (late.go). What is slow is not gone: its connection stays open, and its answer counts when it
// comes.
//
// Package lease renews workers this way, and package segment reserves its blocks. Package account takes the settings
// alone.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. Anything but one row, the right tags, no notice, no error and ReadyForQuery I is unknown, and the connection is
//     closed. A notice matters: if PostgreSQL cancels a commit's wait for the synchronous standby, a notice is the only
//     sign.
//  2. A deadline closes the socket at most, and does nothing else. A CancelRequest could cancel the wait for a standby,
//     and the commit would then look acknowledged. So none is sent.
//  3. A late answer is that of a later call for the same statement, and says which call asked. The first clean answer
//     ends all other writes.
package acknowledge
