package idserver

import (
	"context"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"pgflurry/fault"
	"pgflurry/proxy/frame"
	"pgflurry/proxy/wire"
)

// session is a client in the register, from its startup packet to its end. The goroutine of Serve owns it. Others use
// seen, the methods, and, once it has logged in, the fields that say who it is.
type session struct {
	loop   // it runs once the client has logged in
	cancel context.CancelFunc
	log    *slog.Logger
	user   string
	since  time.Time
	pid    int32        // of BackendKeyData
	why    atomic.Int32 // why it ends: a reason
	placed bool         // it has a place; only the register reads and writes this
}

// newSession makes the session of a client, which has to log in before it runs.
func newSession(conn net.Conn, of *conditions, draws *source, buffers *frame.Buffers, log *slog.Logger) *session {
	s := &session{log: log}
	s.conditions, s.conn, s.in = of, conn, frame.NewInbox(conn, buffers)
	s.Replies, s.source = frame.Replies{Buffers: buffers, ToClient: frame.NewWriter(conn)}, draws
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.ToClient.GiveUp(unreadTime, func() bool {
		s.because(closedIdle)
		return true
	})
	return s
}

// unreadTime is how long a client may take nothing of what is written to it. After twice that time at the latest its
// session ends. Otherwise it would keep its place and its replies for as long as the client likes.
const unreadTime = 15 * time.Second

// because notes why the session ends. Only the first call counts.
func (s *session) because(r reason) { s.why.CompareAndSwap(int32(stillOpen), int32(r)) }

// closedFor is why the session ended. If nobody called because, the client's connection was lost.
func (s *session) closedFor() reason {
	if r := reason(s.why.Load()); r != stillOpen {
		return r
	}
	return closedClient
}

// endFor ends the session at once. Any goroutine may call it.
func (s *session) endFor(why reason, told fault.Error) {
	s.because(why)
	s.ToClient.Farewell(wire.AppendError(nil, "FATAL", told))
	s.cancel() // ends a wait for IDs; not sooner, or the connection could end before the client reads why
	s.conn.Close()
}
