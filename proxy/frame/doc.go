// Package frame reads and writes PostgreSQL's messages as frames on sockets: a type byte, a length, and a body it does
// not look into.
//
//	           inbox.go: what to do with each is the caller's to say
//	           ┌─ Hold … Rewind, or with the next one that is
//	peer ──► Next ─ Pass ──► Flush ──► a writer: outlet.go, writer.go ──► the other peer
//	           ├─ Drop
//	           └─ too large for a buffer: Stream
//
//	frame.go       Frame, and the length that none can have
//	inbox.go       Inbox: frames from one peer, in a buffer that it has only while there is something in it
//	fill.go        how its buffer is filled, and which buffer
//	buffers.go     Buffers: what the inboxes of a proxy share
//	frame_unix.go  reads and writes through the descriptor, for as long as they need not wait; frame_other.go has none
//	syscall_*      the system calls: raw where that is quicker and safe, else plain
//	outlet.go      writes through the descriptor
//	writer.go      Writer: whole messages to a client, one writer at a time
//
// It knows nothing of SQL, of what the types of messages mean, of sessions, or of who owes what to whom. It never
// allocates what a peer claims, but for a Secret, which has a limit of the caller's.
package frame
