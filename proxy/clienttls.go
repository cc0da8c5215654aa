package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
)

var (
	errNoTLS         = errors.New("the client began a TLS handshake, which is not configured")
	errHandshakeSize = fmt.Errorf("a TLS handshake of more than %d bytes", maxHandshake)
)

// ClientTLS is how the proxy speaks TLS to clients: TLS 1.2 and newer, without session tickets, as PostgreSQL. A value does
// not change; Proxy.SetClientTLS replaces it.
type ClientTLS struct{ config *tls.Config }

// NewClientTLS makes one from a certificate with its chain and key. Where cas is not nil, each client has to show a
// certificate that one of them has signed.
func NewClientTLS(certificate tls.Certificate, cas *x509.CertPool) (*ClientTLS, error) {
	if len(certificate.Certificate) == 0 || certificate.PrivateKey == nil {
		return nil, errors.New("TLS towards clients needs a certificate and its key")
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{alpn},
		SessionTicketsDisabled: true, DynamicRecordSizingDisabled: true,
	}
	if cas != nil {
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, cas
	}
	return &ClientTLS{config}, nil
}

// handshakeError is a TLS handshake with a client that failed. The client learns of it by TLS's own alert.
type handshakeError struct{ cause error }

func (e handshakeError) Error() string { return "TLS handshake with the client: " + e.cause.Error() }
func (e handshakeError) Unwrap() error { return e.cause }

// accept does the handshake with a client. begun is what has been read of it already. The caller sets the deadline. The
// connection it returns is to be used even after an error: it says no plain word to a client that expects TLS.
func (t *ClientTLS) accept(conn net.Conn, begun []byte) (encrypted, error) {
	beneath := &handshaking{Conn: conn, begun: begun}
	c := encrypted{Conn: tls.Server(beneath, t.config), certificate: t.config.Certificates[0].Certificate[0]}
	if err := c.Handshake(); err != nil {
		if beneath.silent(err) {
			return c, err // a probe
		}
		return c, handshakeError{err}
	}
	beneath.read = -1
	return c, nil
}

// acceptDirect is accept for a client that began TLS without asking. It has to name the protocol (ALPN), so that no other
// protocol's client can be led here.
func (t *ClientTLS) acceptDirect(conn net.Conn, begun []byte) (net.Conn, error) {
	if t == nil {
		return conn, errNoTLS // it could read no plain text
	}
	c, err := t.accept(conn, begun)
	if err == nil && c.ConnectionState().NegotiatedProtocol != alpn {
		err = clientError{code: failALPN}
	}
	return c, err
}
