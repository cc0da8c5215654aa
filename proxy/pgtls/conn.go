package pgtls

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
)

const (
	// maxRecord is the most that a TLS record to a peer carries, in bytes: as much as PostgreSQL's own. A libpq that
	// asks the socket, not OpenSSL, whether more has come hangs on larger ones.
	maxRecord = 8 << 10
	// maxClientHandshake is how many bytes a client may send before its handshake is over. A client with a chain of
	// four certificates of 4096 bits needs less than half.
	maxClientHandshake = 16 << 10
	// maxUpstreamHandshake is the same for upstream, whose certificate may have any number of names.
	maxUpstreamHandshake = 64 << 10
	// recordHeader is the size of the type, the version and the length of a TLS record, in bytes. recordHandshake is
	// the type of a record that begins a handshake.
	recordHeader    = 5
	recordHandshake = 22
	// helloSize is the memory for a ClientHello before it comes, in bytes. With post-quantum keys it grows to 2 kB.
	helloSize = 512
	// ALPN is the name of PostgreSQL's protocol in TLS. With it both sides say that they mean that protocol.
	ALPN = "postgresql"
)

// Conn is a connection inside TLS, to a client or to upstream. One goroutine may read while others write, as on any
// connection. A write that timed out is the last one.
type Conn struct {
	*tls.Conn
	// certificate is the certificate, as DER, that the TLS client of this connection sees: the proxy's own towards a
	// client, upstream's towards upstream.
	certificate []byte
}

// Write sends records of at most maxRecord bytes.
func (c Conn) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var m int
		m, err = c.Conn.Write(b[n:min(n+maxRecord, len(b))])
		n += m
	}
	return n, err
}

// CloseWrite closes the sending direction: of TLS, and of the connection beneath, for peers that ignore the end of TLS.
func (c Conn) CloseWrite() error {
	if err := c.Conn.CloseWrite(); err != nil {
		return err
	}
	if half, ok := c.NetConn().(*handshaking).Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Certificate is the certificate, as DER, that the TLS client of this connection sees. SCRAM binds a login to it. It
// must not be changed.
func (c Conn) Certificate() []byte { return c.certificate }

// ClientCertificate is the client's certificate, which one of the CAs has signed. It is nil if the proxy did not ask
// for one.
func (c Conn) ClientCertificate() *x509.Certificate {
	chains := c.ConnectionState().VerifiedChains // none towards upstream, where verifyUpstream decides
	if len(chains) == 0 {
		return nil
	}
	return chains[0][0]
}

// SameCertificate says whether both connections are inside TLS and show the same certificate. Then a login that a
// client binds to it (SCRAM with channel binding) is valid for upstream.
func SameCertificate(client, upstream net.Conn) bool {
	c, inside := client.(Conn)
	u, outside := upstream.(Conn)
	return inside && outside && bytes.Equal(c.certificate, u.certificate)
}

// handshaking is the connection beneath TLS. It counts what it reads until the handshake is over.
type handshaking struct {
	net.Conn
	begun []byte // was read before TLS began
	most  int    // bytes until the handshake is over
	read  int    // bytes; negative: no longer counted
	last  []byte // that it has read, as many as an alert has
	gate  Gate   // nil: none, or the handshake is over
}

// NetConn is the connection that this one counts for.
func (c *handshaking) NetConn() net.Conn { return c.Conn }

// Read is never called concurrently: TLS has a lock around it.
func (c *handshaking) Read(b []byte) (n int, err error) {
	switch {
	case c.read > c.most:
		return 0, errHandshakeSize
	case len(c.begun) > 0:
		n = copy(b, c.begun)
		c.begun = c.begun[n:]
	default:
		n, err = c.outside(c.Conn.Read, b)
	}
	if c.read >= 0 {
		c.read += n
		c.last = append(c.last, b[:n]...)
		c.last = c.last[max(0, len(c.last)-alertSize):]
	}
	return n, err
}

// alertSize is the size of a record that is an alert in plain text: its header, the level, and the alert.
const alertSize = recordHeader + 2

// alert is the one in plain text with which the client has ended the handshake. In TLS 1.3 the other side expects it
// encrypted, but OpenSSL sends it so when it does not take the server's certificate.
func (c *handshaking) alert() (said tls.AlertError, is bool) {
	const kind, size = 21, 2 // https://www.rfc-editor.org/rfc/rfc8446#section-5.1
	if len(c.last) < alertSize || c.last[0] != kind || c.last[3] != 0 || c.last[4] != size {
		return 0, false
	}
	return tls.AlertError(c.last[6]), true
}

// Write may wait, too, for a client that reads nothing.
func (c *handshaking) Write(b []byte) (int, error) { return c.outside(c.Conn.Write, b) }

// outside reads or writes while the handshake has no place.
func (c *handshaking) outside(do func([]byte) (int, error), b []byte) (int, error) {
	gate := c.gate
	if gate == nil {
		return do(b)
	}
	gate.Leave()
	n, err := do(b)
	if again := gate.Enter(); err == nil {
		err = again
	}
	return n, err
}
