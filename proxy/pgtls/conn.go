package pgtls

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
)

const (
	// maxRecord is the most a TLS record to a peer carries, in bytes: as much as PostgreSQL's own. A libpq that asks
	// the socket rather than OpenSSL whether more has come hangs on larger ones.
	maxRecord = 8 << 10
	// maxClientHandshake is the most a client may send until its handshake is over, in bytes. A client with a chain of
	// four certificates of 4096 bits needs less than half.
	maxClientHandshake = 16 << 10
	// maxUpstreamHandshake is the same for upstream, whose certificate may have any number of names.
	maxUpstreamHandshake = 64 << 10
	// recordHeader is the type, the version and the length of a TLS record, in bytes; recordHandshake is the type of
	// one that begins a handshake.
	recordHeader    = 5
	recordHandshake = 22
	// helloSize is the memory for a ClientHello before it comes, in bytes. With keys for a time after quantum computers
	// it needs 2 kB.
	helloSize = 512
	// ALPN is the name of PostgreSQL's protocol in TLS, by which both sides know that they mean it.
	ALPN = "postgresql"
)

// Conn is a connection inside TLS, to a client or to upstream. One goroutine may read while others write, as on any
// connection; a write that timed out is the last one.
type Conn struct {
	*tls.Conn
	// certificate is the one that the client of this connection sees, as DER: the proxy's own towards a client,
	// upstream's towards upstream.
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

// CloseWrite ends one direction: of TLS, and of the connection beneath, for a peer that does not know the former.
func (c Conn) CloseWrite() error {
	if err := c.Conn.CloseWrite(); err != nil {
		return err
	}
	if half, ok := c.NetConn().(*handshaking).Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Certificate is the one that the client of this connection sees, as DER: SCRAM binds a login to it. It must not be
// changed.
func (c Conn) Certificate() []byte { return c.certificate }

// ClientCertificate is the one that a client has shown and that one of the CAs has signed; nil: the client was not
// asked for one.
func (c Conn) ClientCertificate() *x509.Certificate {
	chains := c.ConnectionState().VerifiedChains // none towards upstream, whose chain is judged otherwise
	if len(chains) == 0 {
		return nil
	}
	return chains[0][0]
}

// SameCertificate says that both connections are inside TLS and show one certificate, so that what a client binds a
// login to (SCRAM with channel binding) is what upstream expects.
func SameCertificate(client, upstream net.Conn) bool {
	c, inside := client.(Conn)
	u, outside := upstream.(Conn)
	return inside && outside && bytes.Equal(c.certificate, u.certificate)
}

// handshaking is the connection beneath TLS. Until the handshake is over it counts what it reads.
type handshaking struct {
	net.Conn
	begun []byte // read already, and not by TLS
	most  int    // bytes until the handshake is over
	read  int    // bytes; negative: no longer counted
}

// Read is not called concurrently: TLS has a lock around it.
func (c *handshaking) Read(b []byte) (n int, err error) {
	switch {
	case c.read > c.most:
		return 0, errHandshakeSize
	case len(c.begun) > 0:
		n = copy(b, c.begun)
		c.begun = c.begun[n:]
	default:
		n, err = c.Conn.Read(b)
	}
	if c.read >= 0 {
		c.read += n
	}
	return n, err
}
