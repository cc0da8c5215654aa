package proxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"pgflurry/proxy/frame"
)

// TLSMode is how much the connection to upstream is protected. Each means what libpq's sslmode of that name does,
// https://www.postgresql.org/docs/current/libpq-ssl.html.
type TLSMode int

const (
	TLSDisable    TLSMode = iota // plain text
	TLSPrefer                    // TLS where upstream has it, else plain text
	TLSRequire                   // TLS; with CAs the same as TLSVerifyCA
	TLSVerifyCA                  // TLS with a certificate that a CA has signed
	TLSVerifyFull                // the same, and the certificate names the host
)

var tlsModes = [...]string{"disable", "prefer", "require", "verify-ca", "verify-full"}

func (m TLSMode) String() string { return tlsModes[m] }

// ParseTLSMode reads a mode as libpq writes it.
func ParseTLSMode(name string) (TLSMode, error) {
	for m, known := range tlsModes {
		if name == known {
			return TLSMode(m), nil
		}
	}
	return 0, fmt.Errorf("%q is no mode of TLS; expected disable, prefer, require, verify-ca or verify-full", name)
}

// UpstreamTLS is how the proxy speaks TLS to upstream. The zero value is plain text. On a Unix socket it has no effect, as in
// libpq.
type UpstreamTLS struct {
	Mode TLSMode
	// CAs are trusted to sign upstream's certificate. TLSVerifyCA and TLSVerifyFull need them; where they are given in another
	// mode, they are asked as well.
	CAs *x509.CertPool
	// Certificate is shown to an upstream that asks for one; nil for none. Every session shows the same.
	Certificate *tls.Certificate
}

// upstreamTLS is an UpstreamTLS made ready for one host.
type upstreamTLS struct {
	mode   TLSMode
	config *tls.Config
}

func (u UpstreamTLS) forHost(host string) (*upstreamTLS, error) {
	if u.Mode >= TLSVerifyCA && u.CAs == nil {
		return nil, fmt.Errorf("upstream TLS mode %v has no CA to ask", u.Mode)
	}
	config := &tls.Config{
		ServerName: host, MinVersion: tls.VersionTLS12, NextProtos: []string{alpn}, DynamicRecordSizingDisabled: true,
		InsecureSkipVerify: true, // in favour of libpq's rules:
		VerifyConnection: func(state tls.ConnectionState) error {
			if u.CAs == nil {
				return nil
			}
			return verifyUpstream(state.PeerCertificates, u.CAs, host, u.Mode == TLSVerifyFull)
		},
	}
	if u.Certificate != nil {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return u.Certificate, nil }
	}
	return &upstreamTLS{u.Mode, config}, nil
}

// SetUpstreamTLS replaces how new sessions, cancel requests and DialUpstream reach upstream.
func (p *Proxy) SetUpstreamTLS(u UpstreamTLS) error {
	host, _, err := net.SplitHostPort(p.address)
	if err != nil && p.network == "tcp" {
		return fmt.Errorf("upstream %q is no host:port: %w", p.address, err)
	}
	made, err := u.forHost(host)
	if err != nil {
		return err
	}
	p.upstreamTLS.Store(made)
	return nil
}

// SetClientTLS replaces what clients get that connect from now on; nil refuses TLS. Sessions that are open go on as they are.
func (p *Proxy) SetClientTLS(t *ClientTLS) { p.clientTLS.Store(t) }

// DialUpstream connects to upstream as sessions do. Inside TLS it returns a *tls.Conn, by which drivers know that SCRAM can be
// bound to the certificate.
func (p *Proxy) DialUpstream(ctx context.Context) (net.Conn, error) {
	conn, err := p.dialUpstream(ctx)
	if secure, inside := conn.(encrypted); inside {
		return secure.Conn, err
	}
	return conn, err
}

func (p *Proxy) dialUpstream(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, p.dialTimeout)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	t := p.upstreamTLS.Load()
	conn, err := p.dialPlain(ctx)
	if err != nil || t.mode == TLSDisable || p.network == "unix" {
		return conn, err
	}
	secure, err := t.negotiate(ctx, conn)
	if err == nil {
		return secure, nil
	}
	if err == errUpstreamHasNone && t.mode == TLSPrefer {
		return conn, nil
	}
	conn.Close()
	if t.mode == TLSPrefer && ctx.Err() == nil {
		return p.dialPlain(ctx)
	}
	code := failUpstreamTLS
	if errors.As(err, new(certificateError)) {
		code = failUpstreamCertificate
	}
	return nil, clientError{code, err}
}

func (p *Proxy) dialPlain(ctx context.Context) (net.Conn, error) {
	dialer := net.Dialer{Timeout: p.dialTimeout}
	return dialer.DialContext(ctx, p.network, p.address)
}

var errUpstreamHasNone = errors.New("upstream refuses TLS")

// negotiate asks for TLS and does the handshake. It reads exactly the one byte of the answer: what somebody in between puts
// behind it in plain text is taken for a TLS record, and refused.
func (t *upstreamTLS) negotiate(ctx context.Context, conn net.Conn) (net.Conn, error) {
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(longAgo) })
	defer stop()
	request := binary.BigEndian.AppendUint32([]byte{0, 0, 0, 8}, codeSSL)
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
		beneath := &handshaking{Conn: conn}
		c := encrypted{Conn: tls.Client(beneath, t.config)}
		if err := c.Handshake(); err != nil {
			return nil, fmt.Errorf("TLS handshake with upstream: %w", err)
		}
		beneath.read = -1
		c.certificate = c.ConnectionState().PeerCertificates[0].Raw
		secure = c
	default:
		return nil, fmt.Errorf("upstream answers %q to the request for TLS; expected S or N", answer)
	}
	if !stop() {
		return nil, ctx.Err()
	}
	if err := conn.SetDeadline(noDeadline); err != nil {
		return nil, err
	}
	if secure == nil {
		return nil, errUpstreamHasNone
	}
	return secure, nil
}

// reach connects to upstream and hands it the startup packet. As with libpq's sslmode=prefer, an upstream that lets nobody in
// by TLS is tried without.
func (s *session) reach(login time.Time) error {
	err := s.start(s.proxy.dialUpstream)
	if err == nil && s.proxy.upstreamTLS.Load().mode == TLSPrefer && s.refused(login) {
		s.server.Close()
		err = s.start(s.proxy.dialPlain)
	}
	if err != nil && !errors.As(err, new(clientError)) {
		err = clientError{failDial, err}
	}
	return err
}

func (s *session) start(dial func(context.Context) (net.Conn, error)) error {
	server, err := dial(s.ctx)
	if err != nil {
		return err
	}
	s.server, s.fromServer = upstreamConn{server, frame.NewOutlet(server)}, frame.NewInbox(server, s.proxy.buffers)
	s.fromServer.AllowWide()
	s.keepsBinding = sameCertificate(s.client, server)
	if _, err := server.Write(s.opening.raw); err != nil {
		server.Close()
		if s.refusesTLS(err) {
			err = clientError{failUpstreamTLS, err}
		}
		return err
	}
	return nil
}

// refused says that upstream's first word inside TLS is that pg_hba.conf has no line for it. The word stays in the inbox.
func (s *session) refused(login time.Time) bool {
	if _, inside := s.server.(upstreamConn).Conn.(encrypted); !inside || s.server.SetReadDeadline(login) != nil {
		return false
	}
	defer context.AfterFunc(s.proxy.ctx, func() { s.server.Close() })() // no session yet, so no drain would reach it
	f, err := s.fromServer.Await()
	return s.server.SetReadDeadline(noDeadline) == nil && err == nil && f.Kind == 'E' && string(errorField(f.Body, 'C')) == "28000"
}

// relayCancel passes a CancelRequest on as it came and waits, as libpq does, until upstream closes: then it was handled.
func (p *Proxy) relayCancel(raw []byte) error {
	server, err := p.dialUpstream(context.Background())
	if err != nil {
		return err
	}
	defer server.Close()
	defer context.AfterFunc(p.ctx, func() { server.Close() })()
	if err := server.SetDeadline(time.Now().Add(p.dialTimeout)); err != nil {
		return err
	}
	if _, err := server.Write(raw); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, server)
	return err
}
