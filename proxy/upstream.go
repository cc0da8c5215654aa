package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"pgflurry/proxy/frame"
	"pgflurry/proxy/pgtls"
	"pgflurry/proxy/wire"
)

// Host is one server behind the proxy, or a pooler or balancer in front of it. net.Dial takes both fields: "tcp" and
// "host:port", or "unix" and the socket's path.
type Host struct{ Network, Address string }

// Reign is the time for which one host, the primary, takes all connections.
type Reign struct {
	Host int             // index in Settings.Upstream
	Over context.Context // ends with the reign
}

// link is a connection to a host.
type link struct {
	net.Conn
	host int
	over context.Context // ends with the host's reign; never ends where any host will do
}

// under wraps a connection beneath TLS; nil leaves it as it is.
type under func(net.Conn) net.Conn

// dialUpstream connects to the host that reigns. If its reign ends meanwhile, it goes on to the next one. Without Reign
// it connects to the first host that accepts.
func (p *Proxy) dialUpstream(ctx context.Context, u under) (link, error) {
	ctx, cancel := p.dialing(ctx)
	defer cancel()
	if p.reign == nil {
		return p.dialInOrder(ctx, u)
	}
	for {
		reign, err := p.reign(ctx)
		if err != nil {
			return link{}, clientError{failNoPrimary, err}
		}
		if l, err := p.dialReigning(ctx, reign, u); err == nil || reign.Over.Err() == nil || ctx.Err() != nil {
			return l, err
		}
	}
}

// dialing limits the time of a connection to upstream.
func (p *Proxy) dialing(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, p.dialTimeout)
	stop := context.AfterFunc(p.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// dialReigning fails if the reign is over before the connection is there.
func (p *Proxy) dialReigning(ctx context.Context, reign Reign, u under) (link, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(reign.Over, cancel)()
	conn, err := (*p.ways.Load())[reign.Host].dial(ctx, u)
	if err != nil {
		return link{}, err
	}
	if err := reign.Over.Err(); err != nil {
		conn.Close()
		return link{}, err
	}
	return link{conn, reign.Host, reign.Over}, nil
}

// dialInOrder tries one host after the other. Each has its share of the time that is left.
func (p *Proxy) dialInOrder(ctx context.Context, u under) (link, error) {
	ways := *p.ways.Load()
	var failed error
	for i, w := range ways {
		conn, err := w.dialWithin(ctx, len(ways)-i, u)
		switch {
		case err == nil:
			return link{conn, i, context.Background()}, nil
		case len(ways) == 1:
			return link{}, err
		case !errors.As(err, new(*dialError)):
			err = fmt.Errorf("%s: %w", w.Address, err)
		}
		if failed == nil {
			failed = err
		} else {
			failed = fmt.Errorf("%w; %w", failed, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return link{}, clientError{failDial, failed}
}

// DialUpstream connects to upstream as sessions do. The connection ends with the reign, as theirs do. Inside TLS it
// returns a *tls.Conn, which tells drivers that they can bind SCRAM to the certificate.
func (p *Proxy) DialUpstream(ctx context.Context) (net.Conn, error) {
	var beneath *boundConn
	l, err := p.dialUpstream(ctx, func(conn net.Conn) net.Conn {
		beneath = &boundConn{Conn: conn}
		return beneath
	})
	if err != nil {
		return nil, err
	}
	beneath.bind(l.over)
	return forDriver(l.Conn), nil
}

// DialHost connects to one host of Settings.Upstream, whichever reigns.
func (p *Proxy) DialHost(ctx context.Context, host int) (net.Conn, error) {
	ctx, cancel := p.dialing(ctx)
	defer cancel()
	conn, err := (*p.ways.Load())[host].dial(ctx, nil)
	if err != nil {
		return nil, err
	}
	return forDriver(conn), nil
}

// forDriver returns the connection in the form that drivers know.
func forDriver(conn net.Conn) net.Conn {
	if secure, inside := conn.(pgtls.Conn); inside {
		return secure.Conn
	}
	return conn
}

// boundConn is a connection that is closed when a reign ends.
type boundConn struct {
	net.Conn
	free atomic.Pointer[func() bool]
}

func (c *boundConn) bind(over context.Context) {
	free := context.AfterFunc(over, func() { c.Conn.Close() })
	c.free.Store(&free)
}

// Close implements net.Conn.
func (c *boundConn) Close() error {
	if free := c.free.Load(); free != nil {
		(*free)()
	}
	return c.Conn.Close()
}

// reach connects to upstream and sends it the startup packet. If upstream lets nobody in by TLS, it tries without, as
// libpq does with sslmode=prefer.
func (s *session) reach(login time.Time) error {
	err := s.start(func(ctx context.Context) (link, error) { return s.proxy.dialUpstream(ctx, nil) })
	if way := s.way(); err == nil && way.tls.Mode() == pgtls.Prefer && s.refused(login) {
		s.upstream.Close()
		err = s.start(func(ctx context.Context) (link, error) {
			ctx, cancel := s.proxy.dialing(ctx)
			defer cancel()
			conn, err := way.dialPlain(ctx, nil, nil)
			return link{conn, s.host, s.over}, err
		})
	}
	if err != nil {
		err = unreachable(err)
	}
	return err
}

// way is the way to the host of the session.
func (s *session) way() way { return (*s.proxy.ways.Load())[s.host] }

// unreachable is the client's error when upstream cannot be reached.
func unreachable(err error) error {
	if errors.As(err, new(clientError)) {
		return err
	}
	return clientError{failDial, err}
}

func (s *session) start(dial func(context.Context) (link, error)) error {
	began := time.Now()
	l, err := dial(s.ctx)
	if err != nil {
		s.proxy.counters.count(connectFailed)
		return err
	}
	s.proxy.counters.count(connectOK)
	s.proxy.counters.connectTimes.Observe(time.Since(began))
	upstream := l.Conn
	s.host, s.over = l.host, l.over
	s.upstream = upstreamConn{upstream, frame.NewOutlet(upstream), &s.counts.toUpstream}
	s.fromUpstream = frame.NewInbox(upstream, s.proxy.buffers)
	s.fromUpstream.AllowWide()
	s.keepsBinding = pgtls.SameCertificate(s.client, upstream)
	n, err := upstream.Write(s.opening.raw)
	s.counts.toUpstream.Add(int64(n))
	if err != nil {
		upstream.Close()
		if s.refusesTLS(err) {
			err = clientError{failUpstreamTLS, err}
		}
		return err
	}
	return nil
}

// refused says whether upstream's first message inside TLS is that pg_hba.conf has no line for it. That message stays
// in the inbox.
func (s *session) refused(login time.Time) bool {
	if _, inside := s.upstream.(upstreamConn).Conn.(pgtls.Conn); !inside || s.upstream.SetReadDeadline(login) != nil {
		return false
	}
	hangUp := func() { s.upstream.Close() } // there is no session yet that drain or reign could end
	defer context.AfterFunc(s.proxy.ctx, hangUp)()
	defer context.AfterFunc(s.over, hangUp)()
	f, err := s.fromUpstream.Await()
	return s.upstream.SetReadDeadline(noDeadline) == nil && err == nil && f.Kind == wire.BackendErrorResponse &&
		string(wire.ErrorField(f.Body, 'C')) == "28000"
}
