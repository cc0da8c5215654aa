package proxy

import (
	"context"
	"net"

	"pgflurry/proxy/pgtls"
)

// DialUpstream connects to upstream as sessions do. The connection ends, as theirs do, when its host is not the
// primary any more. Inside TLS it
// returns a *tls.Conn, which tells drivers that they can bind SCRAM to the certificate.
func (p *Proxy) DialUpstream(ctx context.Context) (net.Conn, error) {
	var beneath *boundConn
	l, err := p.hosts.dial(ctx, func(conn net.Conn) net.Conn {
		beneath = &boundConn{Conn: conn}
		return beneath
	})
	if err != nil {
		return nil, err
	}
	beneath.bind(l.over)
	return forDriver(l.Conn), nil
}

// DialHost connects to one host of Settings.Upstream, primary or not.
func (p *Proxy) DialHost(ctx context.Context, host int) (net.Conn, error) {
	ctx, cancel := p.hosts.limited(ctx)
	defer cancel()
	conn, err := p.hosts.dialer(host).dial(ctx, nil)
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
