package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime/debug"
	"sync/atomic"
	"time"
)

var (
	noDeadline = time.Time{}
	longAgo    = time.Unix(1, 0)
)

// session is one client connection and its upstream connection. Fields are grouped by the goroutine that owns them.
type session struct {
	proxy      *Proxy
	ctx        context.Context // ends with the session
	cancel     context.CancelFunc
	log        *slog.Logger
	opening    opening
	permission *Permission
	client     net.Conn // client ↔ proxy
	server     net.Conn // proxy ↔ upstream
	ledger     *ledger
	toClient   writer
	leaving    atomic.Bool // the client has left or is being sent away: upstream's end is no news

	answers     atomic.Int64 // units and queries answered; written by client.go alone
	answeredIDs atomic.Int64

	// client.go
	fromClient *inbox
	segment    segment
	unit       unit
	finished   finishedPortal
	named      map[string]*statement
	runs       []run
	out        []byte // replies not yet written to the client
	lastText   []byte
	lastForm   *form

	// server.go
	fromServer *inbox
	relayed    int  // ReadyForQuery in the run, to be settled as it is written
	sawFatal   bool // upstream has told the client why it ends
}

// serve is the life of a connection: admit, dial, relay, end.
func (p *Proxy) serve(conn net.Conn, id int64) {
	log := p.log.With("session", id, "client", conn.RemoteAddr())
	defer conn.Close()
	defer recoverTo(log)

	o, err := p.admit(conn)
	if err != nil {
		tellClient(conn, err)
		if !errors.Is(err, io.EOF) { // a probe connects and leaves
			log.Warn("connection refused", "cause", err)
		}
		return
	}
	if o.cancel {
		if err := p.relayCancel(o.raw); err != nil {
			log.Warn("cancel request was not passed on", "cause", err)
		}
		return
	}
	s, err := p.open(conn, o, log)
	if err != nil {
		tellClient(conn, err)
		log.Warn("session refused", "cause", err)
		return
	}
	defer s.cancel()
	defer p.forget(s)
	log.Debug("session begins", "user", o.user, "database", o.database)
	err = s.relay()
	log.Debug("session ended", "cause", err, "answers", s.answers.Load(), "ids", s.answeredIDs.Load())
}

// admit reads what the client wants, within the login timeout.
func (p *Proxy) admit(conn net.Conn) (opening, error) {
	if err := conn.SetReadDeadline(time.Now().Add(p.loginTimeout)); err != nil {
		return opening{}, err
	}
	o, err := readOpening(conn)
	if err != nil {
		var late net.Error
		if errors.As(err, &late) && late.Timeout() {
			err = clientError{failLogin, err}
		}
		return opening{}, err
	}
	if !o.cancel && p.draining.Load() {
		return opening{}, clientError{code: failNotAccepting}
	}
	return o, conn.SetReadDeadline(noDeadline)
}

// open connects to upstream and hands it the startup packet as it came. From here on the session owns both connections.
func (p *Proxy) open(client net.Conn, o opening, log *slog.Logger) (*session, error) {
	server, err := p.dialUpstream()
	if err != nil {
		return nil, clientError{failDial, err}
	}
	if _, err := server.Write(o.raw); err != nil {
		server.Close()
		return nil, clientError{failDial, err}
	}
	o.raw = nil
	s := &session{
		proxy: p, log: log, opening: o, client: client, toClient: writer{conn: client}, server: upstreamConn{server}, ledger: newLedger(),
		permission: p.permission(o.database),
		fromClient: newInbox(client, p.buffers), fromServer: newInbox(server, p.buffers),
	}
	s.fromClient.max = maxFrameBeforeReady
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if !p.remember(s) {
		s.cancel()
		server.Close()
		return nil, clientError{code: failNotAccepting}
	}
	return s, nil
}

// relay runs the two directions until both have ended. The first to end says why.
func (s *session) relay() error {
	login := time.AfterFunc(s.proxy.loginTimeout, s.loginLate)
	defer login.Stop()
	ended := make(chan error, 1)
	go func() {
		defer s.client.Close() // releases relayClient
		err := fmt.Errorf("panic in the relay from upstream")
		defer func() { s.ledger.end(); ended <- err }()
		defer recoverTo(s.log)
		err = s.relayServer()
		s.serverEnded(err)
	}()
	err := s.relayClientSafely()
	s.clientEnded(err)
	serverErr := <-ended
	s.server.Close()
	if err == nil || errors.Is(err, net.ErrClosed) {
		return serverErr
	}
	return err
}

func (s *session) relayClientSafely() (err error) {
	err = clientError{code: failInternal}
	defer recoverTo(s.log)
	return s.relayClient()
}

// serverEnded tells the client why upstream is gone, unless upstream did so itself or the client left first.
func (s *session) serverEnded(err error) {
	if s.leaving.Load() {
		return
	}
	var own clientError
	switch {
	case errors.As(err, &own):
	case errors.As(err, new(errFrame)):
		own = clientError{failDesync, err}
	case s.sawFatal:
		return
	default:
		own = clientError{failUpstreamLost, err}
	}
	s.log.Warn("session lost", "cause", own)
	s.toClient.farewell(own.code)
}

// clientEnded ends the upstream connection as the client ended its own.
func (s *session) clientEnded(err error) {
	var own clientError
	switch {
	case errors.As(err, new(upstreamError)):
		return // upstream's last words, if any, are still on their way to the client
	case errors.Is(err, io.EOF), errors.Is(err, errTerminated):
		// What was sent before is still carried out, and answered as long as the client listens.
		s.leaving.Store(true)
		if half, ok := s.server.(upstreamConn).Conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
			return
		}
	case errors.As(err, &own):
		if own.code != failDraining {
			s.log.Warn("session ended by the proxy", "cause", own)
		}
		s.leaving.Store(true)
		s.toClient.farewell(own.code)
		if own.code == failDraining {
			_, _ = s.server.Write([]byte{'X', 0, 0, 0, 4})
		}
	}
	s.leaving.Store(true)
	s.cancel()
	s.server.Close()
}

// interrupt makes relayClient look whether it should end.
func (s *session) interrupt() { _ = s.client.SetReadDeadline(longAgo) }

// kill ends the session at once.
func (s *session) kill(code failure) {
	s.leaving.Store(true)
	s.toClient.farewell(code)
	s.client.Close()
	s.server.Close()
}

func (s *session) loginLate() {
	if !s.ledger.started.Load() {
		s.log.Warn("session ended by the proxy", "cause", clientTexts[failLogin].message)
		s.kill(failLogin)
	}
}

// upstreamError marks a failed write to upstream, so that it is not taken for the client's end.
type upstreamError struct{ cause error }

func (e upstreamError) Error() string { return "write to upstream: " + e.cause.Error() }
func (e upstreamError) Unwrap() error { return e.cause }

type upstreamConn struct{ net.Conn }

func (c upstreamConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if err != nil {
		err = upstreamError{err}
	}
	return n, err
}

// recoverTo keeps a fault in one session from ending the others.
func recoverTo(log *slog.Logger) {
	if fault := recover(); fault != nil {
		log.Error("a session failed; please report this", "fault", fault, "stack", string(debug.Stack()))
	}
}
