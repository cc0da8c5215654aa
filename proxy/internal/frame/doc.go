// Package frame reads and writes PostgreSQL's messages as frames on sockets: a type byte, a length, and a body that it
// does not read. The proxy and package idserver use it for every connection.
//
//	           inbox.go: the caller decides what to do with each frame
//	           ┌─ Hold … Rewind, or with the next one that is
//	peer ──► Next ─ Pass ──► Flush ──► a writer: outlet.go, writer.go ──► the other peer
//	           ├─ Drop
//	           └─ too large for a buffer: Stream
//
//	frame.go       Frame, and the error for an impossible length
//	inbox.go       Inbox: frames from one peer. It has a buffer only while there is something in it
//	fill.go        how the buffer is filled, and which buffer
//	buffers.go     Buffers: what the inboxes of a proxy share
//	frame_unix.go  reads and writes by descriptor while they need not wait; frame_other.go has none of that
//	syscall_*      the system calls: raw where that is faster and safe, else plain
//	outlet.go      writes by descriptor
//	writer.go      Writer: whole messages to a client, one writer at a time
//	replies.go     Replies: local replies that are not yet written
//	watch.go       ends a write that nobody needs any more, while the peer takes nothing
//	peer_linux.go  what the kernel knows of the peer: has it ended, what has it not taken
//
// The package knows nothing of SQL, of the meaning of messages, of sessions, or of who owes a reply. It never allocates
// a length that a peer claims. The exception is Secret, for which the caller sets a limit.
package frame
