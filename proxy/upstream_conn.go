package proxy

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"

	"pgflurry/proxy/pgtls"
)

// upstreamError marks a failed write to upstream, so that it is not mistaken for the client's end.
type upstreamError struct{ cause error }

func (e upstreamError) Error() string { return "write to upstream: " + e.cause.Error() }
func (e upstreamError) Unwrap() error { return e.cause }

// upstreamReadError marks a failed read from upstream before the relay begins.
type upstreamReadError struct{ cause error }

func (e upstreamReadError) Error() string { return e.cause.Error() }
func (e upstreamReadError) Unwrap() error { return e.cause }

// upstreamConn is a session's connection to upstream.
type upstreamConn struct {
	link
	to      io.Writer    // Conn, or an outlet to it
	written atomic.Int64 // bytes
}

func (c *upstreamConn) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.written.Add(int64(n))
	if err != nil {
		err = upstreamError{err}
	}
	return n, err
}

// exposed says whether others can read what the proxy sends to upstream.
func (c *upstreamConn) exposed() bool {
	_, inside := c.Conn.(pgtls.Conn)
	address, tcp := c.RemoteAddr().(*net.TCPAddr)
	return !inside && tcp && !address.IP.IsLoopback()
}

// tls is the state of TLS; nil without TLS.
func (c *upstreamConn) tls() *tls.ConnectionState {
	leg, inside := c.Conn.(pgtls.Conn)
	if !inside {
		return nil
	}
	state := leg.ConnectionState()
	return &state
}

// refusesTLS says whether an error before the first ReadyForQuery means that upstream refused the proxy's certificate.
// In TLS 1.3 a server does so after the handshake and then closes its socket. That close may overtake the alert that
// says why.
func (c *upstreamConn) refusesTLS(err error) bool {
	failed := new(net.OpError)
	if !errors.As(err, &failed) {
		return false
	}
	_, inside := c.Conn.(pgtls.Conn)
	reset := errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	return failed.Op == "remote error" || inside && reset
}
