package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"pgflurry/proxy/pgtls"
)

// dialer connects to one host, by all addresses of its name and by TLS for that name. Each connection resolves the
// name anew. A dialer does not change.
type dialer struct {
	Host
	tls *pgtls.Negotiator
}

// checkHosts refuses hosts that cannot be dialled.
func checkHosts(hosts []Host) error {
	if len(hosts) == 0 {
		return errors.New("proxy settings have no upstream; expected at least one host")
	}
	for _, h := range hosts {
		if h.Network != "tcp" && h.Network != "unix" || h.Address == "" {
			return fmt.Errorf("proxy settings name the upstream %q %q; "+
				"expected tcp and host:port, or unix and a path", h.Network, h.Address)
		}
	}
	return nil
}

// dialWithin is dial in one of that many shares of the time that is left.
func (d dialer) dialWithin(ctx context.Context, shares int, u wrapper) (net.Conn, error) {
	if deadline, bounded := ctx.Deadline(); bounded && shares > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(shares))
		defer cancel()
	}
	return d.dial(ctx, u)
}

// dial connects, by TLS if that is asked for. If an address of the host accepts the connection but fails at TLS, dial
// tries the next address.
func (d dialer) dial(ctx context.Context, u wrapper) (net.Conn, error) {
	if d.tls.Mode() == pgtls.Disable || d.Network == "unix" {
		return d.dialPlain(ctx, nil, u)
	}
	var failed error
	tried := make(map[string]bool)
	for {
		conn, err := d.dialPlain(ctx, tried, u)
		switch {
		case err != nil && failed != nil:
			return nil, failed
		case err != nil:
			return nil, err
		}
		secure, err := d.negotiate(ctx, conn)
		switch {
		case err == nil:
			return secure, nil
		case err == pgtls.ErrHasNone && d.tls.Mode() == pgtls.Prefer:
			return conn, nil
		}
		conn.Close()
		if d.tls.Mode() == pgtls.Prefer && ctx.Err() == nil {
			return d.dialPlain(ctx, nil, u)
		}
		failing := failUpstreamTLS
		if errors.As(err, new(pgtls.CertificateError)) {
			failing = failUpstreamCertificate
		}
		failed = clientError{failing, err}
		tried[conn.RemoteAddr().String()] = true
		if d.oneAddress() || ctx.Err() != nil {
			return nil, failed
		}
	}
}

// negotiate does TLS. If the host may have another address, it leaves half of the time for that.
func (d dialer) negotiate(ctx context.Context, conn net.Conn) (net.Conn, error) {
	if deadline, bounded := ctx.Deadline(); bounded && !d.oneAddress() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	return d.tls.Negotiate(ctx, conn)
}

// oneAddress says that the host has a single address: it is no name, which may have several.
func (d dialer) oneAddress() bool {
	_, err := netip.ParseAddrPort(d.Address)
	return d.Network == "unix" || err == nil
}

// errTried means that TLS has failed at this address before.
var errTried = errors.New("TLS failed at this address")

// dialPlain connects to the first address of the host that accepts, without those that were tried.
func (d dialer) dialPlain(ctx context.Context, tried map[string]bool, u wrapper) (net.Conn, error) {
	by := net.Dialer{ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		if tried[address] {
			return errTried
		}
		return nil
	}}
	conn, err := by.DialContext(ctx, d.Network, d.Address)
	if err != nil {
		return nil, &dialError{d.Address, err}
	}
	if u != nil {
		conn = u(conn)
	}
	return conn, nil
}

// dialError says where the proxy looked for upstream, in the words of --upstream, and what happened there.
type dialError struct {
	address string
	cause   error
}

func (e *dialError) Error() string {
	var op *net.OpError
	if !errors.As(e.cause, &op) {
		return fmt.Sprintf("%s: %v", e.address, e.cause)
	}
	cause := op.Err
	if call := new(os.SyscallError); errors.As(cause, &call) {
		cause = call.Err
	}
	if op.Addr != nil && op.Addr.String() != e.address {
		return fmt.Sprintf("%s (%s): %v", e.address, op.Addr, cause)
	}
	return fmt.Sprintf("%s: %v", e.address, cause)
}

func (e *dialError) Unwrap() error { return e.cause }
