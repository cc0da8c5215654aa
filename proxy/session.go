package proxy

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime/debug"
	"sync/atomic"
	"time"

	"pgflurry/proxy/admission"
	"pgflurry/proxy/conversation"
	"pgflurry/proxy/frame"
	"pgflurry/proxy/pgtls"
	"pgflurry/proxy/statement"
)

// maxPassword is the largest body of a password message, in bytes. PostgreSQL has the same limit.
const maxPassword = 65535

var (
	noDeadline = time.Time{}
	longAgo    = time.Unix(1, 0)
)

// session is one client connection and its upstream connection. Fields are grouped by the goroutine that owns them.
type session struct {
	proxy      *Proxy
	cancel     context.CancelFunc
	log        *slog.Logger
	opening    opening
	admitted   *admitted
	slot       *admission.Slot // among the connections to upstream
	permission *Permission
	client     net.Conn        // client ↔ proxy
	upstream   *upstreamConn   // proxy ↔ upstream
	host       int             // index in Settings.Upstream of the host that upstream leads to
	over       context.Context // ends when the host is not the primary any more
	key        string          // cancels its statements; guarded by registry.mu
	toClient   *frame.Writer
	// conversation is what both sides have said; both goroutines use it.
	conversation *conversation.Conversation
	// keepsBinding says that both peers see the same certificate, so SCRAM's channel binding works across the proxy
	// (channelbinding.go).
	keepsBinding bool
	bindingCut   atomic.Bool  // the proxy removed channel binding from upstream's offer
	leaving      atomic.Bool  // the client has left or is being sent away, so upstream's end needs no report
	why          atomic.Int32 // why it ends: a reason

	toUpstream atomic.Int64 // bytes

	// These fields belong to client.go.
	fromClient *frame.Inbox
	answers    answers
	before     prefix // not yet written to upstream; nil: nothing

	// These fields belong to replies.go.
	fromUpstream *frame.Inbox
	sawFatal     bool // upstream has told the client why it ends
	ready        bool // the first ReadyForQuery came
}

// serve is the life of a connection: admit, dial, relay, end. Its stack frame exists as long as the session, so it is
// kept small (see connection).
func (p *Proxy) serve(conn net.Conn, id int64, a *admitted) {
	c := p.connection(conn, id, a)
	defer c.end()
	var s *session
	var g *guest
	c.client, s, g = p.begin(conn, a, c.login, c.log)
	switch {
	case g != nil:
		c.keep()
		p.host(c, g)
	case s != nil:
		p.live(c, s)
	}
}

// live is the life of a session that upstream serves.
func (p *Proxy) live(c *connection, s *session) {
	defer s.cancel()
	defer p.forget(s)
	defer s.endsWithPrimary()()
	s.ended(s.relay(c.login))
	s.countLogin()
}

// forget ends what the proxy keeps of a session.
func (p *Proxy) forget(s *session) {
	p.limits.Sessions.Give(s.slot)
	p.registry.leave(s)
}

// begin admits a client. It returns a guest, or a session that is connected to upstream. It returns neither after an
// error, which it has reported, or if the packet begins no session, such as a cancel request.
func (p *Proxy) begin(
	conn net.Conn, a *admitted, login time.Time, log *slog.Logger,
) (client net.Conn, s *session, g *guest) {
	defer func() {
		if g == nil {
			p.registry.arrived()
		}
	}()
	client = conn // or TLS on top of it
	var o opening
	err := apart(log, func() (err error) { client, o, err = p.admit(conn, a, login); return err })
	if err != nil {
		tellClient(client, err)
		if !isProbe(err) {
			p.counters.count(loginFailed)
			if !errors.Is(err, net.ErrClosed) { // else the proxy closed it, and has said why
				log.Warn("connection refused", "cause", err)
			}
		}
		return client, nil, nil
	}
	switch {
	case p.cancelsInside(o):
		return client, nil, nil
	case o.cancel || o.refused:
		p.passOnce(client, o, a, log)
		return client, nil, nil
	case p.belongsInside(o):
		return client, nil, &guest{startup: o.raw, client: client}
	}
	err = apart(log, func() (err error) { s, err = p.open(client, o, a, login, log); return err })
	if err != nil {
		tellClient(client, err)
		p.counters.count(loginFailed)
		if !errors.Is(err, net.ErrClosed) {
			log.Warn("session refused", "user", o.user, "database", o.database, "cause", err)
		}
		return client, nil, nil
	}
	s.log.Debug("session begins")
	return client, s, nil
}

func (s *session) ended(cause error) {
	s.log.Debug("session ended", "cause", cause, "reason", reasonLabels[s.closedFor()],
		"answers", s.answers.counts.all()+s.answers.slow,
		"ids", s.answers.counts.ids.Load(), "numbers", s.answers.counts.numbers.Load())
}

// countLogin counts a session that ended before it had logged in. takeReply counts the others.
func (s *session) countLogin() {
	switch {
	case s.conversation.Started():
	case s.closedFor() == closedRefused:
		s.proxy.counters.count(loginRefused)
	default:
		s.proxy.counters.count(loginFailed)
	}
}

// admit reads what the client wants. It returns the connection to go on with: conn, or TLS on top of it.
func (p *Proxy) admit(conn net.Conn, a *admitted, login time.Time) (net.Conn, opening, error) {
	if err := conn.SetDeadline(login); err != nil {
		return conn, opening{}, err
	}
	offer := tlsOffer{
		Client:  a.rules.clientTLS,
		timeout: a.rules.handshakeTimeout,
		login:   login,
		slots:   p.limits.Handshakes,
		from:    a.From,
		away:    func() { p.giveWay(conn, a) },
	}
	client, o, err := readOpening(conn, offer)
	if late := net.Error(nil); errors.As(err, &late) && late.Timeout() && !errors.As(err, new(pgtls.HandshakeError)) {
		err = clientError{failLogin, err}
	}
	if deadlineErr := conn.SetDeadline(noDeadline); err == nil {
		err = deadlineErr
	}
	_, inside := client.(pgtls.Conn)
	switch {
	case err != nil:
	case !o.cancel && p.registry.draining.Load():
		err = clientError{code: failNotAccepting}
	case !o.cancel && a.rules.requireTLS && !inside:
		err = clientError{code: failTLSRequired}
	}
	return client, o, err
}

// open connects to upstream and sends it the startup packet as it came. From here on the session owns both connections.
func (p *Proxy) open(client net.Conn, o opening, a *admitted, login time.Time, log *slog.Logger) (*session, error) {
	slot, err := p.takeSlot(client, a, login)
	if err != nil {
		return nil, err
	}
	begun := false
	defer func() {
		if !begun {
			p.limits.Sessions.Give(slot)
		}
	}()
	s := &session{
		proxy: p, log: log, opening: o, admitted: a, slot: slot, client: client,
		toClient: frame.NewWriter(client), permission: p.permission(o.database),
		fromClient: frame.NewInbox(client, p.sources.buffers),
	}
	s.conversation = conversation.New(conversation.Session{
		Replication: o.replication, Unlisted: s.permission == nil, Allows: s.mayAnswer,
	}, p.batches)
	s.fromClient.SetMax(maxPassword) // until relayClient reads
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.answers = answers{sources: &p.sources, segments: p.segments(o.database), ctx: ctx, toClient: s.toClient}
	if err := s.reach(ctx, login); err != nil {
		s.cancel()
		return nil, err
	}
	s.opening.raw = nil
	s.log = s.whose(log)
	s.toClient.GiveUp(p.deafTime, s.inVain)
	if err := p.registry.enter(s); err != nil {
		s.cancel()
		s.upstream.Close()
		return nil, err
	}
	begun = true
	return s, nil
}

// takeSlot takes the slot of a session among the connections to upstream.
func (p *Proxy) takeSlot(client net.Conn, a *admitted, login time.Time) (*admission.Slot, error) {
	if p.registry.isClosed() {
		return nil, clientError{code: failNotAccepting}
	}
	slot, err := p.limits.Sessions.Take(a.From, login, func() { p.giveWay(client, a) })
	if err != nil && err != net.ErrClosed {
		err = clientError{failTooMany, err}
	}
	return slot, err
}

// relay runs the two directions until both have ended. The first to end gives the cause.
func (s *session) relay(login time.Time) error {
	late := time.AfterFunc(time.Until(login), s.loginLate)
	defer late.Stop()
	if s.mustBeProven() {
		if err := apart(s.log, s.login().awaitProof); err != nil {
			s.loginEnded(err)
			return err
		}
	}
	if s.admitted.rules.askPassword {
		if err := apart(s.log, s.login().logIn); err != nil {
			s.loginEnded(err)
			return err
		}
	}
	ended := make(chan error, 1)
	go func() {
		err := s.safely(s.relayUpstream)
		s.upstreamEnded(err)
		s.conversation.End() // these three release relayClient, whatever it waits for
		s.upstream.Close()   // without replies, nothing more needs to reach upstream
		s.client.Close()
		ended <- err
	}()
	err := s.safely(s.relayClient)
	s.clientEnded(err)
	if upstreamErr := <-ended; err == nil || errors.Is(err, net.ErrClosed) {
		return upstreamErr
	}
	return err
}

func (s *session) login() *login {
	return &login{s.upstream, s.fromUpstream, s.fromClient, s.toClient, s.opening.user}
}

// mayAnswer checks condition 2 of doc.go.
func (s *session) mayAnswer(f *statement.Form) bool {
	return s.permission.Allows(f) && (f.Tag == nil || s.answers.segments != nil)
}

// safely keeps a panic in one session from ending the others.
func (s *session) safely(relay func() error) (err error) {
	err = clientError{code: failInternal}
	defer recoverTo(s.log)
	return relay()
}

// apart runs f on a stack of its own. Dialling and handshakes need a deep one. An idle session would otherwise keep it
// for its whole life, and a third of its memory would be that stack.
func apart(log *slog.Logger, f func() error) error {
	err := error(clientError{code: failInternal})
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer recoverTo(log)
		err = f()
	}()
	<-done
	return err
}

// recoverTo keeps a panic in one session from ending the others.
func recoverTo(log *slog.Logger) {
	if fault := recover(); fault != nil {
		logFault(log, fault)
	}
}

func logFault(log *slog.Logger, fault any) {
	log.Error("a session failed; please report this", "fault", fault, "stack", string(debug.Stack()))
}
