package pgtls

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Mode is how well the connection to upstream is protected. Each mode means the same as libpq's sslmode of that name,
// https://www.postgresql.org/docs/current/libpq-ssl.html.
type Mode int

const (
	Disable    Mode = iota // plain text
	Prefer                 // TLS if upstream has it, else plain text
	Require                // TLS; with CAs the same as VerifyCA
	VerifyCA               // TLS with a certificate that a CA has signed
	VerifyFull             // as VerifyCA, and the certificate names the host
)

var modes = [...]string{"disable", "prefer", "require", "verify-ca", "verify-full"}

// String is libpq's name of the mode.
func (m Mode) String() string { return modes[m] }

// ParseMode reads libpq's name of a mode.
func ParseMode(name string) (Mode, error) {
	for m, known := range modes {
		if name == known {
			return Mode(m), nil
		}
	}
	return 0, fmt.Errorf("%q is no mode of TLS; expected disable, prefer, require, verify-ca or verify-full", name)
}

// Upstream is the proxy's TLS towards upstream. The zero value is plain text. On a Unix socket it has no effect, as in
// libpq.
type Upstream struct {
	Mode Mode
	// CAs may sign upstream's certificate. VerifyCA and VerifyFull need them. If another mode has them, the certificate
	// is verified as well.
	CAs *x509.CertPool
	// Certificate is shown to an upstream that asks for one; nil for none. All sessions show the same.
	Certificate *tls.Certificate
}

// Negotiator is an Upstream prepared for one host. It does not change, and is safe for concurrent use.
type Negotiator struct {
	mode   Mode
	config *tls.Config
}

// ForHost prepares a Negotiator for a host. VerifyFull looks for this name. The error is a mode without its CAs.
func (u Upstream) ForHost(host string) (*Negotiator, error) {
	if u.Mode >= VerifyCA && u.CAs == nil {
		return nil, fmt.Errorf("upstream TLS mode %v has no CA to ask", u.Mode)
	}
	config := &tls.Config{
		ServerName: host, MinVersion: tls.VersionTLS12, NextProtos: []string{ALPN}, DynamicRecordSizingDisabled: true,
		InsecureSkipVerify: true, // verifyUpstream has libpq's rules instead
		VerifyConnection: func(state tls.ConnectionState) error {
			if u.CAs == nil {
				return nil
			}
			return verifyUpstream(state.PeerCertificates, u.CAs, host, u.Mode == VerifyFull)
		},
	}
	if u.Certificate != nil {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return u.Certificate, nil
		}
	}
	return &Negotiator{u.Mode, config}, nil
}

// Mode is the mode of the Upstream.
func (n *Negotiator) Mode() Mode { return n.mode }

// errRefuses hides the text of the error, as libpq does: anybody on the way could have written it.
var errRefuses = errors.New("upstream answers the request for TLS with an error; " +
	"a server does so if it can start no process for the connection")

// ErrHasNone means that upstream refuses TLS, and goes on in plain text.
var ErrHasNone = errors.New("upstream refuses TLS")

// request is an SSLRequest, https://www.postgresql.org/docs/current/protocol-message-formats.html.
var request = []byte{0, 0, 0, 8, 4, 210, 22, 47}

// Negotiate asks for TLS and does the handshake, until ctx ends. It reads exactly one byte as the answer. If somebody
// in between adds plain text behind it, TLS takes that for a record and fails. After ErrHasNone, conn can be used in
// plain text. After any other error it is useless. That error is a CertificateError if upstream's certificate is not
// trusted.
func (n *Negotiator) Negotiate(ctx context.Context, conn net.Conn) (net.Conn, error) {
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := conn.Write(request); err != nil {
		return nil, fmt.Errorf("asking upstream for TLS: %w", err)
	}
	var answer [1]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return nil, fmt.Errorf("asking upstream for TLS: %w", err)
	}
	var secure net.Conn
	switch answer[0] {
	case 'N':
	case 'S':
		beneath := &handshaking{Conn: conn, most: maxUpstreamHandshake}
		c := Conn{Conn: tls.Client(beneath, n.config)}
		if err := c.Handshake(); err != nil {
			return nil, fmt.Errorf("TLS handshake with upstream: %w", err)
		}
		beneath.read = -1
		c.certificate = c.ConnectionState().PeerCertificates[0].Raw
		secure = c
	case 'E':
		return nil, errRefuses
	default:
		return nil, fmt.Errorf("upstream answers %q to the request for TLS; expected S or N", answer)
	}
	if !stop() {
		return nil, ctx.Err()
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	if secure == nil {
		return nil, ErrHasNone
	}
	return secure, nil
}
