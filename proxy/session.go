package proxy

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"pgflurry/proxy/internal/admission"
	"pgflurry/proxy/internal/conversation"
	"pgflurry/proxy/internal/frame"
	"pgflurry/proxy/internal/frontend"
	"pgflurry/proxy/pgtls"
)

// session is one client connection and its upstream connection. Its parts are grouped by the goroutine that uses them.
type session struct {
	pair              // both
	requests requests // the client's
	replies  replies  // upstream's

	user     string
	unproven bool // upstream must ask the client for a proof
	asks     bool // the proxy asks the client for the password
}

// engine serves an admitted client until its end. It is a session, which relays to upstream, or an inside session.
type engine interface {
	run(p *Proxy, c *connection)
}

// serve is the life of a connection: admit, then one of the engines. Its stack frame exists as long as the session, so
// it is kept small (see connection).
func (p *Proxy) serve(conn net.Conn, id int64, a *admitted) {
	c := newConnection(p.ctx, conn, id, a, p.log)
	defer p.end(c)
	if e := p.begin(c); e != nil {
		e.run(p, c)
	}
}

// end is deferred. It also keeps a panic in one session from ending the others.
func (p *Proxy) end(c *connection) {
	if fault := recover(); fault != nil {
		frontend.LogPanic(c.log, fault)
	}
	p.arrived(c.admitted)
	c.close()
}

// arrived says that a handover of the listening socket need not wait for the connection any more. A session arrives
// when it relays, because a drain knows it then; any other connection when it is over. Calls may repeat.
func (p *Proxy) arrived(a *admitted) {
	if !a.here {
		a.here = true
		p.registry.Arrived()
	}
}

// run relays. A drain knows the session, and waits for its login.
func (s *session) run(p *Proxy, c *connection) {
	p.arrived(c.admitted)
	defer s.cancel()
	defer p.forget(s)
	defer s.endsWithPrimary()()
	s.ended(s.relay(c.login))
	s.countLogin()
}

// forget ends what the proxy keeps of a session.
func (p *Proxy) forget(s *session) {
	s.connection.ReleaseSlot()
	p.registry.Leave(&s.pair)
}

// begin admits a client and finds its engine: an inside session, or a session that is connected to upstream. It is nil
// after an error, which begin has reported, or if the packet begins no session, such as a cancel request.
func (p *Proxy) begin(c *connection) engine {
	var packet startupPacket
	err := frontend.Apart(c.log, errInternal, func() (err error) {
		c.client, packet, err = p.admit(c.conn, c.admitted, c.login)
		return err
	})
	if err != nil {
		tellClient(c.client, err)
		if !isProbe(err) {
			p.counters.count(loginFailed)
			if !errors.Is(err, net.ErrClosed) { // else the proxy closed it, and has said why
				c.log.Warn("connection refused", "cause", err)
			}
		}
		return nil
	}
	switch {
	case packet.cancel || packet.refused:
		p.passOn(c.client, packet, c.admitted.From, c.log)
		return nil
	case p.belongsInside(packet):
		return &insideSession{&packet.Startup}
	}
	var s *session
	err = frontend.Apart(c.log, errInternal, func() (err error) {
		s, err = p.open(c.client, packet, c.admitted, c.login, c.log)
		return err
	})
	if err != nil {
		tellClient(c.client, err)
		p.counters.count(loginFailed)
		if !errors.Is(err, net.ErrClosed) {
			c.log.Warn("session refused", "user", packet.User, "database", packet.Database, "cause", err)
		}
		return nil
	}
	s.log.Debug("session begins")
	return s
}

func (s *session) ended(cause error) {
	s.log.Debug("session ended", "cause", cause, "reason", s.Closed().String(),
		"answers", s.counts.All()+s.requests.answers.slow,
		"ids", s.counts.IDs.Load(), "numbers", s.counts.Numbers.Load())
}

// passOn passes on a packet that begins no session. The ID database takes its own cancel requests.
func (p *Proxy) passOn(client net.Conn, packet startupPacket, from netip.Prefix, log *slog.Logger) {
	if !p.cancelsInside(packet) {
		cancelRelay{p.hosts, &p.registry, &p.counters, p.limits}.pass(p.ctx, client, packet, from, log)
	}
}

// countLogin counts a session that ended before it had logged in. takeReply counts the others.
func (s *session) countLogin() {
	switch {
	case s.conversation.Started():
	case s.Closed() == frontend.ClosedRefused:
		s.replies.counters.count(loginRefused)
	default:
		s.replies.counters.count(loginFailed)
	}
}

// admit reads what the client wants. It returns the connection to go on with: conn, or TLS on top of it.
func (p *Proxy) admit(conn net.Conn, a *admitted, login time.Time) (net.Conn, startupPacket, error) {
	if err := conn.SetDeadline(login); err != nil {
		return conn, startupPacket{}, err
	}
	offer := tlsOffer{
		Client:  a.rules.ClientTLS,
		timeout: a.rules.HandshakeTimeout,
		login:   login,
		slots:   p.limits.Handshakes,
		from:    a.From,
		away:    func() { p.giveWay(conn, a) },
	}
	client, packet, err := readStartup(conn, offer)
	if late := net.Error(nil); errors.As(err, &late) && late.Timeout() && !errors.As(err, new(pgtls.HandshakeError)) {
		err = clientError{failLogin, err}
	}
	if deadlineErr := conn.SetDeadline(noDeadline); err == nil {
		err = deadlineErr
	}
	_, inside := client.(pgtls.Conn)
	switch {
	case err != nil:
	case !packet.cancel && p.registry.Draining.Load():
		err = clientError{failure: failNotAccepting}
	case !packet.cancel && a.rules.RequireTLS && !inside:
		err = clientError{failure: failTLSRequired}
	}
	return client, packet, err
}

// open connects to upstream and sends it the startup packet as it came. From here on the session owns both connections.
func (p *Proxy) open(
	client net.Conn, packet startupPacket, a *admitted, login time.Time, log *slog.Logger,
) (*session, error) {
	if err := p.acquireSlot(client, a, login); err != nil {
		return nil, err
	}
	begun := false
	defer func() {
		if !begun {
			a.ReleaseSlot()
		}
	}()
	permission, segments := p.permission(packet.Database), p.segments(packet.Database)
	upstream, fromUpstream, err := p.hosts.reach(packet.raw, login)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &session{
		pair: pair{
			client: client, upstream: upstream, toClient: frame.NewWriter(client),
			binding: binding{works: pgtls.SameCertificate(client, upstream.Conn)},
			log:     sessionLog(log, packet.User, packet.Database, upstream), connection: &a.Connection,
			cancel: cancel, lost: p.lost,
		},
		user:     packet.User,
		unproven: !p.trusting && mustBeProven(p.hosts.all[upstream.host], client), asks: a.rules.AskPassword,
	}
	s.requests = requests{
		pair: &s.pair, registry: &p.registry, fromClient: frame.NewInbox(client, p.sources.buffers),
		answers: answers{
			sources: &p.sources, permission: permission, segments: segments, ctx: ctx,
			Replies: frame.Replies{Buffers: p.sources.buffers, ToClient: s.toClient}, counts: &s.counts,
		},
	}
	s.replies = replies{
		pair: &s.pair, registry: &p.registry, counters: &p.counters, since: a.since, fromUpstream: fromUpstream,
	}
	s.conversation = conversation.New(conversation.Session{
		Replication: packet.Replicates(), Unlisted: permission == nil, Allows: s.requests.answers.may,
	}, p.batches)
	s.requests.fromClient.SetMax(maxPassword) // until relayClient reads
	s.toClient.GiveUp(p.deafTime, s.inVain)
	if !p.registry.Enter(&s.pair) {
		cancel()
		upstream.Close()
		return nil, clientError{failure: failNotAccepting}
	}
	begun = true
	return s, nil
}

// acquireSlot takes the slot of a session among the connections to upstream.
func (p *Proxy) acquireSlot(client net.Conn, a *admitted, login time.Time) error {
	if p.registry.IsClosed() {
		return clientError{failure: failNotAccepting}
	}
	err := a.AcquireSlot(p.ctx, login, func() { p.giveWay(client, a) }, func() bool { return frame.Ended(client) })
	switch err {
	case nil, net.ErrClosed:
		return err
	case admission.ErrUpstreamLogins:
		return clientError{failure: failUpstreamLogins}
	}
	return clientError{failTooMany, err}
}

// relay runs the two directions until both have ended. The first to end gives the cause.
func (s *session) relay(login time.Time) error {
	late := time.AfterFunc(time.Until(login), s.loginLate)
	defer late.Stop()
	if s.unproven {
		if err := frontend.Apart(s.log, errInternal, s.login().awaitProof); err != nil {
			s.loginEnded(err)
			return err
		}
	}
	if s.asks {
		if err := frontend.Apart(s.log, errInternal, s.login().logIn); err != nil {
			s.loginEnded(err)
			return err
		}
	}
	ended := make(chan error, 1)
	r := &s.replies
	go func() {
		err := frontend.Safely(r.log, errInternal, r.relayUpstream)
		r.upstreamEnded(err)
		r.conversation.End() // these three release relayClient, whatever it waits for
		r.upstream.Close()   // without replies, nothing more needs to reach upstream
		r.client.Close()
		ended <- err
	}()
	err := frontend.Safely(s.log, errInternal, s.requests.relayClient)
	s.clientEnded(err)
	if upstreamErr := <-ended; err == nil || errors.Is(err, net.ErrClosed) {
		return upstreamErr
	}
	return err
}

func (s *session) login() *login {
	return &login{s.upstream, s.replies.fromUpstream, s.requests.fromClient, s.toClient, s.user, s.connection}
}
