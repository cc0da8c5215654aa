package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"pgflurry/proxy/internal/frame"
	"pgflurry/proxy/pgtls"
)

// Host is one server behind the proxy, or a pooler or balancer in front of it. net.Dial takes both fields: "tcp" and
// "host:port", or "unix" and the socket's path.
type Host struct{ Network, Address string }

// Primary is the host that takes all connections.
type Primary struct {
	Host int             // index in Settings.Upstream
	Over context.Context // ends when it is not the primary any more
}

// link is a connection to a host.
type link struct {
	net.Conn
	host int
	over context.Context // ends when the host is not the primary any more; never ends where any host will do
}

// wrapper wraps a connection beneath TLS; nil leaves it as it is.
type wrapper func(net.Conn) net.Conn

// hosts are those behind the proxy, and how new sessions, cancel requests and the proxy's own connections reach them.
type hosts struct {
	all      []Host
	primary  func(context.Context) (Primary, error) // nil: any host will do
	timeout  time.Duration                          // of a connection
	ended    context.Context                        // ends with the proxy
	dialers  atomic.Pointer[[]dialer]               // of all
	buffers  *frame.Buffers
	counters *counters
}

// prepare makes dialers with this TLS. They are in use once the caller calls use.
func (h *hosts) prepare(u pgtls.Upstream) (use func(), err error) {
	dialers := make([]dialer, len(h.all))
	for i, host := range h.all {
		name, _, err := net.SplitHostPort(host.Address)
		if err != nil && host.Network == "tcp" {
			return nil, fmt.Errorf("upstream %q is no host:port: %w", host.Address, err)
		}
		negotiator, err := u.ForHost(name)
		if err != nil {
			return nil, err
		}
		dialers[i] = dialer{host, negotiator}
	}
	return func() { h.dialers.Store(&dialers) }, nil
}

// dialer is the one of a host.
func (h *hosts) dialer(host int) dialer { return (*h.dialers.Load())[host] }

// dial connects to the primary. If that changes meanwhile, it goes on to the next one. Where any host will do, it
// connects to the first that accepts.
func (h *hosts) dial(ctx context.Context, u wrapper) (link, error) {
	ctx, cancel := h.limited(ctx)
	defer cancel()
	if h.primary == nil {
		return h.dialInOrder(ctx, u)
	}
	for {
		primary, err := h.primary(ctx)
		if err != nil {
			return link{}, clientError{failNoPrimary, err}
		}
		if l, err := h.dialPrimary(ctx, primary, u); err == nil || primary.Over.Err() == nil || ctx.Err() != nil {
			return l, err
		}
	}
}

// limited limits the time of a connection to upstream.
func (h *hosts) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	stop := context.AfterFunc(h.ended, cancel)
	return ctx, func() { stop(); cancel() }
}

// dialPrimary fails if another host becomes the primary before the connection is there.
func (h *hosts) dialPrimary(ctx context.Context, primary Primary, u wrapper) (link, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(primary.Over, cancel)()
	conn, err := h.dialer(primary.Host).dial(ctx, u)
	if err != nil {
		return link{}, err
	}
	if err := primary.Over.Err(); err != nil {
		conn.Close()
		return link{}, err
	}
	return link{conn, primary.Host, primary.Over}, nil
}

// dialInOrder tries one host after the other. Each has its share of the time that is left.
func (h *hosts) dialInOrder(ctx context.Context, u wrapper) (link, error) {
	dialers := *h.dialers.Load()
	var failed error
	for i, d := range dialers {
		conn, err := d.dialWithin(ctx, len(dialers)-i, u)
		switch {
		case err == nil:
			return link{conn, i, context.Background()}, nil
		case len(dialers) == 1:
			return link{}, err
		case !errors.As(err, new(*dialError)):
			err = fmt.Errorf("%s: %w", d.Address, err)
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

// boundConn is a connection that is closed when its host is not the primary any more.
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
