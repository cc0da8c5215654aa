package proxy

import (
	"runtime"
	"time"
)

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
// For the latter, a wait is blind only where it is the other side's turn, and lookAgain ends one that lasts: the reader then reads,
// and waits no longer blindly. So an end is noticed at once where it is to be expected; where a peer leaves in the same instant in
// which it asked for something, or said that it is ready, when it is written to, or within twice lookEvery.

const (
	// waitsBlindly: elsewhere readers read until nothing is left.
	waitsBlindly = runtime.GOOS == "linux"
	// defaultLookEvery is how often waits are looked at. A busy session is not disturbed, nor is one that is idle for longer.
	defaultLookEvery = 500 * time.Millisecond
)

// lookAgain ends the blind waits that were there when it was called last. It calls itself as long as there are sessions.
func (p *Proxy) lookAgain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.sessions {
		s.fromClient.lookAgain()
		s.fromServer.lookAgain()
	}
	if len(p.sessions) > 0 {
		p.looks.Reset(p.lookEvery)
	}
}

// lookAgain is called by one goroutine at a time. A deadline makes the reader read (each), also one that is about to wait.
func (in *inbox) lookAgain() {
	if n := in.blind.Load(); n == 0 || n != in.seen {
		in.seen = n
		return
	}
	_ = in.conn.SetReadDeadline(longAgo)
}
