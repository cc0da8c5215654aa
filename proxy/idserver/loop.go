package idserver

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"pgflurry/internal/fault"
	"pgflurry/proxy/internal/frame"
)

// loop serves a client that has logged in, until its end. While it runs nobody else reads conn or writes to it, with
// one exception: who ends the session writes a farewell.
type loop struct {
	engine
	*conditions
	conn   net.Conn
	in     *frame.Inbox
	late   *time.Timer // for errIdle; nil: never
	isLate atomic.Bool
}

var longAgo = time.Unix(1, 0)

// errGoodbye means that the client has sent Terminate.
var errGoodbye = errors.New("session terminated")

// run returns why the session ends: a fault.Error that is sent as FATAL, errGoodbye, or the error of the connection. It
// never closes conn.
func (l *loop) run() error {
	defer l.unwatch()
	defer l.Drop()
	l.in.SetMax(frame.MaxBody)
	for {
		refused, gone := l.in.Each(l.handle)
		if gone != nil {
			return gone
		}
		if refused == frame.ErrLarge {
			refused = l.skipLarge()
		}
		if refused == nil {
			continue
		}
		if err := l.Flush(); err != nil {
			return err
		}
		return refused
	}
}

// handle handles the messages that are in the inbox. It writes the replies when no whole message is left.
func (l *loop) handle() error {
	for {
		f, err := l.in.Next()
		switch {
		case err != nil:
			return malformed("%v", err)
		case f.Large:
			return frame.ErrLarge
		case !f.Whole:
			return l.mayWait()
		}
		l.unwatch()
		l.isLate.Store(false)
		l.work.CompareAndSwap(waiting, working)
		err = l.message(f)
		l.in.Drop(f.Size)
		if err != nil {
			return err
		}
	}
}

// mayWait runs before each wait for the client. A session that has to end does so here: in a drain, outside a
// transaction, and when its client has sent nothing for too long.
func (l *loop) mayWait() error {
	if err := l.Flush(); err != nil {
		return err
	}
	switch {
	case l.draining.Load() && len(l.in.Unread()) == 0 && l.atRest():
		return fault.Draining
	case l.isLate.Load() && l.rules.Load().IdleTimeout > 0: // a reload may have lifted it
		return errIdle
	}
	l.watch()
	l.work.Store(waiting)
	return nil
}

// skipLarge reads past a message that is larger than the buffer, and keeps nothing of it.
func (l *loop) skipLarge() error {
	f, err := l.in.Next()
	if err != nil {
		return err
	}
	stray, err := mayBeLarge(f)
	if err != nil {
		return err
	}
	if err := l.Flush(); err != nil {
		return err
	}
	l.unwatch()
	if err := l.in.Stream(io.Discard, f.Size); err != nil || stray {
		return err
	}
	return l.refuseLarge(f)
}

// watch starts the idle timeout, with the present rules.
func (l *loop) watch() {
	idle := l.rules.Load().IdleTimeout
	switch {
	case idle <= 0:
	case l.late == nil:
		l.late = time.AfterFunc(idle, l.tooLate)
	default:
		l.late.Reset(idle)
	}
}

// unwatch stops the idle timeout.
func (l *loop) unwatch() {
	if l.late != nil {
		l.late.Stop()
	}
}

// tooLate makes run check whether it must end.
func (l *loop) tooLate() {
	l.isLate.Store(true)
	interrupt(l.conn)
}

// interrupt makes the session of a client check whether it has to end. Any goroutine may call it.
func interrupt(client net.Conn) { _ = client.SetReadDeadline(longAgo) }
