package proxy

import (
	"crypto/tls"
	"io"
	"net"
)

const (
	// maxRecord is the most a TLS record to a peer carries, in bytes: as much as PostgreSQL's own. A libpq that asks the socket
	// rather than OpenSSL whether more has come hangs on larger ones.
	maxRecord = 8 << 10
	// maxHandshake is the most a peer may send until its handshake is over, in bytes. A client with a chain of four
	// certificates of 4096 bits needs a tenth.
	maxHandshake = 64 << 10
	// alpn is the name of PostgreSQL's protocol in TLS.
	alpn = "postgresql"
)

// encrypted is a connection inside TLS, to a client or to upstream. One goroutine may read while others write, as on any
// connection; a write that timed out is the last one.
type encrypted struct {
	*tls.Conn
	// certificate is that of the server of this connection, as DER: the proxy's own towards a client, upstream's towards upstream.
	certificate []byte
}

// Write sends records of at most maxRecord bytes.
func (c encrypted) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var m int
		m, err = c.Conn.Write(b[n:min(n+maxRecord, len(b))])
		n += m
	}
	return n, err
}

// CloseWrite ends one direction: of TLS, and of the connection beneath, for a peer that does not know the former.
func (c encrypted) CloseWrite() error {
	if err := c.Conn.CloseWrite(); err != nil {
		return err
	}
	if half, ok := c.NetConn().(*handshaking).Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// handshaking is the connection beneath TLS. Until the handshake is over it counts what it reads.
type handshaking struct {
	net.Conn
	begun []byte // read already, and not by TLS
	read  int    // bytes; negative: no longer counted
}

// Read is not called concurrently: TLS has a lock around it.
func (c *handshaking) Read(b []byte) (n int, err error) {
	switch {
	case c.read > maxHandshake:
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

// silent says that the peer left without a word.
func (c *handshaking) silent(err error) bool { return c.read == 0 && err == io.EOF }
