package proxy

import (
	"errors"
	"net"
	"net/netip"
	"time"

	"pgflurry/proxy/pgtls"
)

// errNoHandshake: maxHandshakes were at work for as long as a client may take.
var errNoHandshake = errors.New("too many handshakes are at work")

// tlsOffer is what a client gets that asks for TLS, and what bounds its handshake.
type tlsOffer struct {
	*pgtls.Client // nil: TLS is refused
	timeout       time.Duration
	login         time.Time // the deadline that holds again behind the handshake
	places        *crowd
	from          netip.Prefix
	away          func() // ends the connection; does not block
}

// accept does a handshake, of which begun has been read. It costs no more than its first record until that is whole and
// there is a place for it. The connection it returns is to be used even after an error.
func (o tlsOffer) accept(conn net.Conn, begun []byte, direct bool) (net.Conn, error) {
	if o.Client == nil {
		return conn, pgtls.ErrNoTLS
	}
	late := time.Now().Add(o.timeout)
	if o.login.Before(late) {
		late = o.login
	}
	if err := conn.SetDeadline(late); err != nil {
		return conn, err
	}
	hello, err := pgtls.ReadHello(conn, begun)
	if err != nil {
		return conn, err
	}
	place := o.places.wait(o.from, late, o.away)
	if place == nil {
		return conn, pgtls.HandshakeError{Cause: errNoHandshake}
	}
	defer o.places.leave(place)
	do := o.Accept
	if direct {
		do = o.AcceptDirect
	}
	secure, err := do(conn, hello)
	if err == pgtls.ErrNoALPN {
		return secure, clientError{code: failALPN}
	}
	if err != nil {
		return secure, err
	}
	return secure, conn.SetDeadline(o.login)
}
