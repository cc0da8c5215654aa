package proxy

import (
	"context"
	"errors"
	"time"

	"pgflurry/proxy/frame"
	"pgflurry/proxy/pgtls"
	"pgflurry/proxy/wire"
)

// reach connects to upstream and sends it the startup packet. If upstream lets nobody in by TLS, it tries without, as
// libpq does with sslmode=prefer.
func (s *session) reach(ctx context.Context, login time.Time) error {
	err := s.start(ctx, func(ctx context.Context) (link, error) { return s.proxy.hosts.dial(ctx, nil) })
	if err == nil && s.dialer().tls.Mode() == pgtls.Prefer && s.refused(login) {
		s.upstream.Close()
		err = s.start(ctx, func(ctx context.Context) (link, error) {
			ctx, cancel := s.proxy.hosts.limited(ctx)
			defer cancel()
			conn, err := s.dialer().dialPlain(ctx, nil, nil)
			return link{conn, s.host, s.over}, err
		})
	}
	if err != nil {
		err = unreachable(err)
	}
	return err
}

// dialer is the one of the session's host.
func (s *session) dialer() dialer { return s.proxy.hosts.dialer(s.host) }

// unreachable is the client's error when upstream cannot be reached.
func unreachable(err error) error {
	if errors.As(err, new(clientError)) {
		return err
	}
	return clientError{failDial, err}
}

func (s *session) start(ctx context.Context, dial func(context.Context) (link, error)) error {
	began := time.Now()
	l, err := dial(ctx)
	if err != nil {
		s.proxy.counters.count(connectFailed)
		return err
	}
	s.proxy.counters.count(connectOK)
	s.proxy.counters.connectTimes.Observe(time.Since(began))
	upstream := l.Conn
	s.host, s.over = l.host, l.over
	s.upstream = &upstreamConn{upstream, frame.NewOutlet(upstream), &s.toUpstream}
	s.fromUpstream = frame.NewInbox(upstream, s.proxy.sources.buffers)
	s.fromUpstream.AllowWide()
	s.keepsBinding = pgtls.SameCertificate(s.client, upstream)
	n, err := upstream.Write(s.opening.raw)
	s.toUpstream.Add(int64(n))
	if err != nil {
		upstream.Close()
		if s.refusesTLS(err) {
			err = clientError{failUpstreamTLS, err}
		}
		return err
	}
	return nil
}

// refused says whether upstream's first message inside TLS is that pg_hba.conf has no line for it. That message stays
// in the inbox.
func (s *session) refused(login time.Time) bool {
	if _, inside := s.upstream.Conn.(pgtls.Conn); !inside || s.upstream.SetReadDeadline(login) != nil {
		return false
	}
	hangUp := func() { s.upstream.Close() } // there is no session yet that could be ended
	defer context.AfterFunc(s.proxy.ctx, hangUp)()
	defer context.AfterFunc(s.over, hangUp)()
	f, err := s.fromUpstream.Await()
	return s.upstream.SetReadDeadline(noDeadline) == nil && err == nil && f.Kind == wire.BackendErrorResponse &&
		string(wire.ErrorField(f.Body, 'C')) == "28000"
}
