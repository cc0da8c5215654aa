package idserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"pgflurry/draw"
	"pgflurry/proxy/frame"
	"pgflurry/proxy/wire"
)

// option is a parameter of the startup packet, as it came there.
type option struct{ name, value string }

// session is one client, from its startup packet to its end. The goroutine of Serve owns all of it, except the fields
// under shared.
//
// These parts have to agree with each other:
//
//	login.go   finds out who the client is. It calls begin with the options of the startup packet, in the order in
//	           which PostgreSQL applies them. It writes AuthenticationOk, what begin appended, BackendKeyData and
//	           ReadyForQuery I.
//	begin      begin([]option, []byte) ([]byte, error) in settings.go applies the options. It appends a
//	           ParameterStatus for each reported parameter. The client gets a problem as FATAL.
//	run        serves until the end. It returns a problem, which Serve sends as FATAL, or errGoodbye for Terminate, or
//	           the error of the connection. run never closes conn. While it runs nobody else reads conn or writes to
//	           it, with one exception. A drain whose time is over ends ctx, writes its farewell by toClient, and
//	           closes conn.
//	a drain    sets Server.draining, then a read deadline on conn. The deadline makes run check whether to end. run
//	           returns errDraining if its status is I, no batch is unfinished, and its inbox is empty.
//	idle       run returns errIdle when its client has sent nothing for Server.rules.idleTimeout, in any status.
type session struct {
	server   *Server
	ctx      context.Context // ends with the session
	cancel   context.CancelFunc
	log      *slog.Logger
	conn     net.Conn
	from     netip.Prefix // the client's address, as limits count it
	user     string
	pid      int32 // of BackendKeyData
	since    time.Time
	in       *frame.Inbox
	toClient *frame.Writer
	out      []byte    // replies not yet written to the client; nil: none
	drawn    draw.Runs // IDs or numbers not yet written to out

	transaction transaction
	skips       bool // after an error in a batch: everything up to its Sync is skipped
	settings    settings
	objects     objects
	late        *time.Timer // for errIdle; nil: never
	isLate      atomic.Bool

	// shared: run writes these fields, anybody may read them.
	work        atomic.Int32           // waiting, working or cancelled
	status      atomic.Int32           // of the last ReadyForQuery: wire.StatusIdle …; 0: it has not logged in
	application atomic.Pointer[string] // application_name; nil: none
	counts      counts
	why         atomic.Int32 // why it ends: a reason

	placed bool // it has a place; only the register reads and writes this
}

var longAgo = time.Unix(1, 0)

// errGoodbye means that the client has sent Terminate.
var errGoodbye = errors.New("session terminated")

// run serves the client until its end, and returns why it ends.
func (s *session) run() error {
	defer s.unwatch()
	defer s.putReplies()
	s.in.SetMax(frame.MaxBody)
	for {
		refused, gone := s.in.Each(s.take)
		if gone != nil {
			return gone
		}
		if refused == frame.ErrLarge {
			refused = s.skipLarge()
		}
		if refused == nil {
			continue
		}
		if err := s.flush(); err != nil {
			return err
		}
		return refused
	}
}

// tooLate makes run check whether it must end.
func (s *session) tooLate() {
	s.isLate.Store(true)
	s.interrupt()
}

// take handles the messages that are in the inbox. It writes the replies when no whole message is left.
func (s *session) take() error {
	for {
		f, err := s.in.Next()
		switch {
		case err != nil:
			return malformed("%v", err)
		case f.Large:
			return frame.ErrLarge
		case !f.Whole:
			return s.mayWait()
		}
		s.unwatch()
		s.isLate.Store(false)
		s.work.CompareAndSwap(waiting, working)
		err = s.takeMessage(f)
		s.in.Drop(f.Size)
		if err != nil {
			return err
		}
	}
}

// mayWait runs before each wait for the client. A session that has to end does so here.
func (s *session) mayWait() error {
	if err := s.flush(); err != nil {
		return err
	}
	rest := len(s.in.Unread()) == 0
	switch {
	case s.server.draining.Load() && rest && s.transaction.block == blockNone && !s.skips:
		return errDraining
	case s.isLate.Load() && s.server.rules.Load().idleTimeout > 0: // a reload may have lifted it
		return errIdle
	}
	s.watch()
	s.work.Store(waiting)
	return nil
}

// What a session does. A cancel request has an effect only while it works.
const (
	waiting   int32 = iota // for its client
	working                // on what its client has sent
	cancelled              // still working, but it has to fail soon
)

// checkCancel fails once after a cancel request. It runs before each statement and each row.
func (s *session) checkCancel() error {
	if s.work.Load() == cancelled && s.work.CompareAndSwap(cancelled, working) {
		return errCancelled
	}
	return nil
}

// watch starts the idle timeout, with the present rules.
func (s *session) watch() {
	idle := s.server.rules.Load().idleTimeout
	switch {
	case idle <= 0:
	case s.late == nil:
		s.late = time.AfterFunc(idle, s.tooLate)
	default:
		s.late.Reset(idle)
	}
}

// unwatch stops the idle timeout.
func (s *session) unwatch() {
	if s.late != nil {
		s.late.Stop()
	}
}

// takeMessage runs one message, unless it is skipped. An error that it returns ends the session.
func (s *session) takeMessage(f frame.Frame) error {
	switch f.Kind {
	case wire.FrontendTerminate:
		return errGoodbye
	case wire.FrontendCopyData, wire.FrontendCopyDone, wire.FrontendCopyFail:
		return nil // the rest of a failed copy; PostgreSQL ignores it, too
	case wire.FrontendSync:
		return s.sync(f.Body)
	case wire.FrontendQuery, wire.FrontendParse, wire.FrontendBind, wire.FrontendDescribe, wire.FrontendExecute,
		wire.FrontendClose, wire.FrontendFlush, wire.FrontendFunctionCall:
	default:
		return malformed("invalid frontend message type %d", f.Kind)
	}
	if s.skips {
		return nil
	}
	err := s.gather()
	if err == nil {
		err = s.carryOut(f.Kind, f.Body)
	}
	return s.settle(f.Kind, err)
}

// carryOut runs a message that may fail.
func (s *session) carryOut(kind byte, body []byte) error {
	switch kind {
	case wire.FrontendQuery:
		return s.query(body)
	case wire.FrontendParse:
		return s.parse(body)
	case wire.FrontendBind:
		return s.bind(body)
	case wire.FrontendDescribe:
		return s.describe(body)
	case wire.FrontendExecute:
		return s.execute(body)
	case wire.FrontendClose:
		return s.close(body)
	case wire.FrontendFlush:
		if len(body) > 0 {
			return errMessage
		}
		return s.flush()
	}
	return errFunctionCall
}

// settle ends a message. It sends the error if the message failed, and ReadyForQuery if it was a Query.
func (s *session) settle(kind byte, err error) error {
	if err != nil {
		if err = s.failed(err); err != nil {
			return err
		}
		s.skips = isExtended(kind)
	}
	if !isExtended(kind) {
		return s.ready()
	}
	return nil
}

// isExtended says whether an error in the message skips everything up to a Sync.
func isExtended(kind byte) bool {
	return kind != wire.FrontendQuery && kind != wire.FrontendFunctionCall
}

// sync ends a batch.
func (s *session) sync(body []byte) error {
	s.skips = false
	if err := s.gather(); err != nil {
		return err
	}
	if len(body) > 0 {
		if err := s.failed(errMessage); err != nil {
			return err
		}
	}
	s.finish()
	return s.ready()
}

// failed sends the client an error. The error ends its transaction, or makes it a failed one. An error that is no
// problem of a statement is returned.
func (s *session) failed(err error) error {
	p, ok := problemOf(err)
	if !ok {
		return err
	}
	s.abort()
	s.counts.refuse(p)
	if err := s.gather(); err != nil {
		return err
	}
	s.out = appendError(s.out, "ERROR", p, "")
	return nil
}

// ready sends ReadyForQuery with the status. Before that it reports changed parameters.
func (s *session) ready() error {
	if err := s.gather(); err != nil {
		return err
	}
	if s.settings.changed {
		s.report()
	}
	status := s.transaction.status()
	s.out = wire.AppendReady(s.out, status)
	s.status.Store(int32(status))
	return nil
}

// skipLarge reads past a message that is larger than the buffer, and keeps nothing of it.
func (s *session) skipLarge() error {
	f, err := s.in.Next()
	if err != nil {
		return err
	}
	stray := f.Kind == wire.FrontendCopyData || f.Kind == wire.FrontendCopyFail
	switch f.Kind {
	case wire.FrontendQuery, wire.FrontendParse, wire.FrontendBind, wire.FrontendDescribe, wire.FrontendExecute,
		wire.FrontendClose, wire.FrontendFunctionCall, wire.FrontendCopyData, wire.FrontendCopyFail:
	default:
		return malformed("message %q with %d bytes; expected a length that it can have", f.Kind, f.Size-1)
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.unwatch()
	if err := s.in.Stream(io.Discard, f.Size); err != nil || s.skips || stray {
		return err
	}
	return s.settle(f.Kind, problem{
		"54000",
		fmt.Sprintf("a message has %d bytes, more than the %d that this database reads", f.Size, frame.BufferSize),
		"Send shorter statements and values, or use one of the proxy's other databases.",
	})
}

// gather makes room for a reply. When the replies before it fill a chunk, it writes them first. A session has a buffer
// for replies only between the first one and their writing.
func (s *session) gather() error {
	if len(s.out) >= frame.ReplyChunk {
		if err := s.flush(); err != nil {
			return err
		}
	}
	if s.out == nil {
		s.out = s.server.buffers.GetReplies()
	}
	return nil
}

// flush writes the replies.
func (s *session) flush() error {
	if len(s.out) == 0 {
		s.putReplies()
		return nil
	}
	err := s.toClient.Write(s.out)
	s.putReplies()
	return err
}

func (s *session) putReplies() {
	if s.out != nil {
		s.server.buffers.PutReplies(s.out)
		s.out = nil
	}
}
