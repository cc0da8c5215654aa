package frame

import "runtime"

// A wait for a peer is blind if the read before it did find bytes. That a read that returns less than it had room for has drained
// the socket is said in epoll(7), so half of all reads, those that find nothing, can be left out. But Go's poller is edge-triggered:
// what has been told is not told again. Two things could be waited for in vain.
//
//   - Bytes that came since the read. The poller keeps their event until somebody waits; but RawConn.Read forgets it when it begins
//     (internal/poll, FD.RawRead: prepareRead, then callback and waitRead by turns). So readReady does not return between the read
//     and the wait, and each RawConn.Read begins with a read.
//   - The end of the connection, where it came together with the last bytes: that is one event, and the poller does not say that the
//     end was part of it. Also what is behind urgent data or a descriptor that was passed along, which end a read early, and which
//     PostgreSQL's protocol does not have.
//
// For the latter, a wait is blind only where it is the other side's turn (Turn), and LookAgain ends one that lasts: the reader then reads,
// and waits no longer blindly. So an end is noticed at once where it is to be expected; where a peer leaves in the same instant in
// which it asked for something, or said that it is ready, when it is written to, or within twice the time between two calls of LookAgain.

// waitsBlindly: elsewhere readers read until nothing is left.
const waitsBlindly = runtime.GOOS == "linux"

// LookAgain ends the blind wait that was there when it was called last. It may be called from any goroutine, but from one at a time.
// A deadline makes the reader read (Each), also one that is about to wait.
func (in *Inbox) LookAgain() {
	if n := in.blind.Load(); n == 0 || n != in.seen {
		in.seen = n
		return
	}
	_ = in.conn.SetReadDeadline(longAgo)
}

// Blind says that it is in a blind wait. It may be called from any goroutine.
func (in *Inbox) Blind() bool { return in.blind.Load() != 0 }
