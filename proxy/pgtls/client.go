package pgtls

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

var (
	// ErrNoTLS means that the client began a TLS handshake, but there is no Client to do it. The client could read no
	// plain text.
	ErrNoTLS = errors.New("the client began a TLS handshake, which is not configured")
	// ErrNoALPN means that a client began TLS without asking, and did not name PostgreSQL's protocol. The connection
	// works otherwise.
	ErrNoALPN        = errors.New("the client began TLS without naming the protocol (ALPN)")
	errHandshakeSize = errors.New("a TLS handshake of more bytes than any needs")
)

// Client is the proxy's TLS towards clients: TLS 1.2 and newer, without session tickets, as in PostgreSQL. A value does
// not change, and is safe for concurrent use.
type Client struct{ config *tls.Config }

// NewClient makes a Client from a certificate, with its chain and key. If cas is not nil, each client must show a
// certificate that one of them has signed.
func NewClient(certificate tls.Certificate, cas *x509.CertPool) (*Client, error) {
	if len(certificate.Certificate) == 0 || certificate.PrivateKey == nil {
		return nil, errors.New("TLS towards clients needs a certificate and its key")
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{ALPN},
		SessionTicketsDisabled: true, DynamicRecordSizingDisabled: true,
	}
	if cas != nil {
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, cas
	}
	return &Client{config}, nil
}

// Until is when the certificate that clients see expires. It is zero if the certificate cannot be read; no client can
// read it then.
func (c *Client) Until() time.Time {
	certificate := &c.config.Certificates[0]
	leaf := certificate.Leaf
	if leaf == nil {
		var err error
		if leaf, err = x509.ParseCertificate(certificate.Certificate[0]); err != nil {
			return time.Time{}
		}
	}
	return leaf.NotAfter
}

// HandshakeError is a TLS handshake with a client that failed. TLS's own alert tells the client.
type HandshakeError struct{ Cause error }

func (e HandshakeError) Error() string { return "TLS handshake with the client: " + e.Cause.Error() }
func (e HandshakeError) Unwrap() error { return e.Cause }

// ReadHello reads the first record of a client's handshake, usually its ClientHello. So no handshake begins before that
// has come. begun is what the caller has read of it. Memory grows as bytes come. If the bytes are no such record, it
// returns what it has read, and the handshake says what is wrong with it. An error is a HandshakeError, or io.EOF of a
// client that left without a byte.
func ReadHello(conn net.Conn, begun []byte) ([]byte, error) {
	hello := append(make([]byte, 0, helloSize), begun...)
	for {
		want := recordHeader
		if len(hello) >= recordHeader {
			want += int(hello[3])<<8 | int(hello[4])
		}
		if len(hello) >= want || want > maxClientHandshake || len(hello) > 0 && hello[0] != recordHandshake {
			return hello, nil
		}
		if len(hello) == cap(hello) {
			hello = append(make([]byte, 0, min(2*cap(hello), want)), hello...)
		}
		n, err := conn.Read(hello[len(hello):min(cap(hello), want)])
		hello = hello[:len(hello)+n]
		switch {
		case n > 0:
		case err == io.EOF && len(hello) == 0:
			return nil, err // a probe
		case err != nil:
			return nil, HandshakeError{err}
		}
	}
}

// Gate limits the handshakes that work at the same time. A handshake is inside while it works. It is outside while it
// waits for its client, which may be for long.
type Gate interface {
	// Enter waits for a place. An error ends the handshake.
	Enter() error
	// Leave gives the place back. It has no effect after an error of Enter.
	Leave()
}

// Accept does the handshake with a client. begun is what the caller has read of it. The caller sets the deadline. An
// error is a HandshakeError. Use the returned connection even after an error: it says nothing in plain text to a client
// that expects TLS. gate may be nil: no limit.
func (t *Client) Accept(conn net.Conn, begun []byte, gate Gate) (net.Conn, error) {
	c, err := t.accept(conn, begun, gate)
	return c, err
}

func (t *Client) accept(conn net.Conn, begun []byte, gate Gate) (Conn, error) {
	beneath := &handshaking{Conn: conn, begun: begun, most: maxClientHandshake, gate: gate}
	c := Conn{Conn: tls.Server(beneath, t.config), certificate: t.config.Certificates[0].Certificate[0]}
	var err error
	if gate != nil {
		err = gate.Enter()
		defer gate.Leave()
	}
	if err == nil {
		err = c.Handshake()
	}
	if err != nil {
		return c, HandshakeError{t.brokenOff(beneath, err)}
	}
	beneath.read, beneath.last, beneath.gate = -1, nil, nil
	return c, nil
}

// brokenOff says of a handshake that the client has ended why it most often does so. It returns other errors as they
// are.
func (t *Client) brokenOff(beneath *handshaking, err error) error {
	var remote *net.OpError
	said, plain := beneath.alert()
	text := said.Error()
	if !plain {
		if !errors.As(err, &remote) || remote.Op != "remote error" {
			return err
		}
		text = remote.Err.Error()
	}
	why := "most often it does not trust the certificate"
	if until := t.Until(); !until.IsZero() && time.Now().After(until) {
		why = "the certificate has expired at " + until.UTC().Format(time.RFC3339)
	}
	return fmt.Errorf("the client broke off (%s): %s", strings.TrimPrefix(text, "tls: "), why)
}

// AcceptDirect is Accept for a client that began TLS without asking. The client must name the protocol (ErrNoALPN), so
// that nobody can redirect clients of other protocols to this port. t may be nil (ErrNoTLS).
func (t *Client) AcceptDirect(conn net.Conn, begun []byte, gate Gate) (net.Conn, error) {
	if t == nil {
		return conn, ErrNoTLS
	}
	c, err := t.accept(conn, begun, gate)
	if err == nil && c.ConnectionState().NegotiatedProtocol != ALPN {
		err = ErrNoALPN
	}
	return c, err
}
