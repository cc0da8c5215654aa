package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"pgflurry/proxy/frame"
	"pgflurry/proxy/pgtls"
	"pgflurry/proxy/wire"
)

// negotiator makes ready how new sessions, cancel requests and DialUpstream reach upstream.
func (p *Proxy) negotiator(u pgtls.Upstream) (*pgtls.Negotiator, error) {
	host, _, err := net.SplitHostPort(p.address)
	if err != nil && p.network == "tcp" {
		return nil, fmt.Errorf("upstream %q is no host:port: %w", p.address, err)
	}
	return u.ForHost(host)
}

// DialUpstream connects to upstream as sessions do. Inside TLS it returns a *tls.Conn, by which drivers know that SCRAM
// can be bound to the certificate.
func (p *Proxy) DialUpstream(ctx context.Context) (net.Conn, error) {
	conn, err := p.dialUpstream(ctx)
	if secure, inside := conn.(pgtls.Conn); inside {
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
	if err != nil || t.Mode() == pgtls.Disable || p.network == "unix" {
		return conn, err
	}
	secure, err := t.Negotiate(ctx, conn)
	if err == nil {
		return secure, nil
	}
	if err == pgtls.ErrHasNone && t.Mode() == pgtls.Prefer {
		return conn, nil
	}
	conn.Close()
	if t.Mode() == pgtls.Prefer && ctx.Err() == nil {
		return p.dialPlain(ctx)
	}
	code := failUpstreamTLS
	if errors.As(err, new(pgtls.CertificateError)) {
		code = failUpstreamCertificate
	}
	return nil, clientError{code, err}
}

func (p *Proxy) dialPlain(ctx context.Context) (net.Conn, error) {
	dialer := net.Dialer{Timeout: p.dialTimeout}
	conn, err := dialer.DialContext(ctx, p.network, p.address)
	if err != nil {
		return nil, &dialError{p.address, err}
	}
	return conn, nil
}

// A dialError says where upstream was looked for, in the words of --upstream, and what came of it.
type dialError struct {
	address string
	cause   error
}

func (e *dialError) Error() string {
	var op *net.OpError
	if !errors.As(e.cause, &op) {
		return fmt.Sprintf("%s: %v", e.address, e.cause)
	}
	cause := op.Err
	if call := new(os.SyscallError); errors.As(cause, &call) {
		cause = call.Err
	}
	if op.Addr != nil && op.Addr.String() != e.address {
		return fmt.Sprintf("%s (%s): %v", e.address, op.Addr, cause)
	}
	return fmt.Sprintf("%s: %v", e.address, cause)
}

func (e *dialError) Unwrap() error { return e.cause }

// reach connects to upstream and hands it the startup packet. As with libpq's sslmode=prefer, an upstream that lets
// nobody in by TLS is tried without.
func (s *session) reach(login time.Time) error {
	err := s.start(s.proxy.dialUpstream)
	if err == nil && s.proxy.upstreamTLS.Load().Mode() == pgtls.Prefer && s.refused(login) {
		s.upstream.Close()
		err = s.start(s.proxy.dialPlain)
	}
	if err != nil {
		err = unreachable(err)
	}
	return err
}

// unreachable is what a client is told where upstream cannot be reached.
func unreachable(err error) error {
	if errors.As(err, new(clientError)) {
		return err
	}
	return clientError{failDial, err}
}

func (s *session) start(dial func(context.Context) (net.Conn, error)) error {
	began := time.Now()
	upstream, err := dial(s.ctx)
	if err != nil {
		s.proxy.counters.count(connectFailed)
		return err
	}
	s.proxy.counters.count(connectOK)
	s.proxy.counters.connectTimes.Observe(time.Since(began))
	s.upstream = upstreamConn{upstream, frame.NewOutlet(upstream), &s.counts.toUpstream}
	s.fromUpstream = frame.NewInbox(upstream, s.proxy.buffers)
	s.fromUpstream.AllowWide()
	s.keepsBinding = pgtls.SameCertificate(s.client, upstream)
	n, err := upstream.Write(s.opening.raw)
	s.counts.toUpstream.Add(int64(n))
	if err != nil {
		upstream.Close()
		if s.refusesTLS(err) {
			err = clientError{failUpstreamTLS, err}
		}
		return err
	}
	return nil
}

// refused says that upstream's first word inside TLS is that pg_hba.conf has no line for it.
// The word stays in the inbox.
func (s *session) refused(login time.Time) bool {
	if _, inside := s.upstream.(upstreamConn).Conn.(pgtls.Conn); !inside || s.upstream.SetReadDeadline(login) != nil {
		return false
	}
	defer context.AfterFunc(s.proxy.ctx, func() { s.upstream.Close() })() // no session yet, so no drain would reach it
	f, err := s.fromUpstream.Await()
	return s.upstream.SetReadDeadline(noDeadline) == nil && err == nil && f.Kind == wire.BackendErrorResponse &&
		string(errorField(f.Body, 'C')) == "28000"
}
