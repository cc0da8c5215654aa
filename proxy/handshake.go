package proxy

import (
	"errors"
	"net"
	"net/netip"
	"time"

	"pgflurry/proxy/internal/admission"
	"pgflurry/proxy/pgtls"
)

// errNoHandshake means that all slots for handshakes were taken for as long as the client could wait.
var errNoHandshake = errors.New("too many handshakes are at work")

// tlsOffer is what a client that asks for TLS gets, with the limits on its handshake.
type tlsOffer struct {
	*pgtls.Client // nil: TLS is refused
	timeout       time.Duration
	login         time.Time // the deadline that holds again after the handshake
	slots         *admission.Limit
	from          netip.Prefix
	away          func() // ends the connection; does not block
}

// workplace is the slot of one handshake while it works.
type workplace struct {
	offer *tlsOffer
	late  time.Time
	taken *admission.Slot
}

// Enter waits for a slot until the handshake is late.
func (p *workplace) Enter() error {
	if p.taken = p.offer.slots.Wait(p.offer.from, p.late, p.offer.away); p.taken == nil {
		return errNoHandshake
	}
	return nil
}

// Leave gives the slot back.
func (p *workplace) Leave() { p.offer.slots.Leave(p.taken) }

// accept does a TLS handshake; begun is what the proxy has read of it. Until the client's first record is complete and
// there is a slot, the handshake costs no more memory than that record. The caller uses the returned connection even
// after an error.
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
	do := o.Accept
	if direct {
		do = o.AcceptDirect
	}
	secure, err := do(conn, hello, &workplace{offer: &o, late: late})
	if err == pgtls.ErrNoALPN {
		return secure, clientError{failure: failALPN}
	}
	if err != nil {
		return secure, err
	}
	return secure, conn.SetDeadline(o.login)
}
