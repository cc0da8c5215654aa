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

// A Host is one server behind the proxy, or a pooler or balancer in front of it, as net.Dial takes it: "tcp" and
// "host:port", or "unix" and the socket's path.
type Host struct{ Network, Address string }

// A Reign is the time for which one host takes all connections.
type Reign struct {
	Host int             // of Settings.Upstream
	Over context.Context // ends with it
}

// A link is a connection to a host.
type link struct {
	net.Conn
	host int
	over context.Context // ends with the host's reign, which never does where any host will do
}

// under is what a connection is to be beneath TLS; nil: what it is.
type under func(net.Conn) net.Conn

// dialUpstream connects to the host that reigns, or where none does, to the first that takes the connection. One whose
// reign ends meanwhile is left for the next.
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

// dialing bounds a connection to upstream.
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

// DialUpstream connects to upstream as sessions do, and the connection ends with the reign as they do. Inside TLS it
// returns a *tls.Conn, by which drivers know that SCRAM can be bound to the certificate.
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

// DialHost connects to one host of Settings.Upstream, whoever reigns.
func (p *Proxy) DialHost(ctx context.Context, host int) (net.Conn, error) {
	ctx, cancel := p.dialing(ctx)
	defer cancel()
	conn, err := (*p.ways.Load())[host].dial(ctx, nil)
	if err != nil {
		return nil, err
	}
	return forDriver(conn), nil
}

// forDriver is a connection as drivers know it.
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

// reach connects to upstream and hands it the startup packet. As with libpq's sslmode=prefer, an upstream that lets
// nobody in by TLS is tried without.
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

// way is that to the host of the session.
func (s *session) way() way { return (*s.proxy.ways.Load())[s.host] }

// unreachable is what a client is told where upstream cannot be reached.
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

// refused says that upstream's first word inside TLS is that pg_hba.conf has no line for it.
// The word stays in the inbox.
func (s *session) refused(login time.Time) bool {
	if _, inside := s.upstream.(upstreamConn).Conn.(pgtls.Conn); !inside || s.upstream.SetReadDeadline(login) != nil {
		return false
	}
	hangUp := func() { s.upstream.Close() } // no session yet, so neither drain nor reign would end it
	defer context.AfterFunc(s.proxy.ctx, hangUp)()
	defer context.AfterFunc(s.over, hangUp)()
	f, err := s.fromUpstream.Await()
	return s.upstream.SetReadDeadline(noDeadline) == nil && err == nil && f.Kind == wire.BackendErrorResponse &&
		string(errorField(f.Body, 'C')) == "28000"
}
