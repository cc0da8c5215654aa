package idserver

import (
	"context"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"pgflurry/internal/fault"
	"pgflurry/proxy/internal/frame"
	"pgflurry/proxy/internal/frontend"
	"pgflurry/proxy/internal/wire"
)

// session is a client in the register, from its startup packet to its end. The goroutine of Serve owns it. Others use
// seen, the methods, and, once it has logged in, the fields that say who it is.
type session struct {
	loop    // it runs once the client has logged in
	cancel  context.CancelFunc
	log     *slog.Logger
	user    string
	since   time.Time
	pid     int32       // of BackendKeyData
	hasSlot atomic.Bool // user is set before
	frontend.Ending
}

// newSession makes the session of a client, which has to log in before it runs.
func newSession(conn net.Conn, of *conditions, draws *source, buffers *frame.Buffers, log *slog.Logger) *session {
	s := &session{log: log}
	s.conditions, s.conn, s.in = of, conn, frame.NewInbox(conn, buffers)
	s.Replies, s.source = frame.Replies{Buffers: buffers, ToClient: frame.NewWriter(conn)}, draws
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.ToClient.GiveUp(unreadTime, func() bool {
		s.Because(frontend.ClosedIdle)
		return true
	})
	return s
}

// unreadTime is how long a client may take nothing of what is written to it. After twice that time at the latest its
// session ends. Otherwise it would keep its slot and its replies for as long as the client likes.
const unreadTime = 15 * time.Second

// Closed is why the session ended; StillOpen if it had not logged in. If nobody called Because, the client's connection
// was lost.
func (s *session) Closed() frontend.Reason {
	switch {
	case !s.hasSlot.Load():
		return frontend.StillOpen
	case s.Why() == frontend.StillOpen:
		return frontend.ClosedClient
	}
	return s.Why()
}

// Interrupt makes the session check whether it has to end.
func (s *session) Interrupt() { interrupt(s.conn) }

// Kill ends the session because a drain's time is over.
func (s *session) Kill() { s.endFor(frontend.ClosedDrain, fault.Draining) }

// endFor ends the session at once. Any goroutine may call it.
func (s *session) endFor(why frontend.Reason, sent fault.Error) {
	s.Because(why)
	s.ToClient.Farewell(wire.AppendError(nil, "FATAL", sent))
	s.cancel() // ends a wait for IDs; not sooner, or the connection could end before the client reads why
	s.conn.Close()
}
