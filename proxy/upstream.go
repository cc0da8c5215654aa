package proxy

import (
	"context"
	"errors"
	"time"

	"pgflurry/proxy/internal/frame"
	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/pgtls"
)

// reach connects to upstream and sends it the startup packet. If upstream lets nobody in by TLS, it tries without, as
// libpq does with sslmode=prefer. The inbox may have upstream's first message.
func (h *hosts) reach(packet []byte, login time.Time) (*upstreamConn, *frame.Inbox, error) {
	ctx := context.Background()
	conn, in, err := h.start(packet, func() (link, error) { return h.dial(ctx, nil) })
	if err == nil && h.dialer(conn.host).tls.Mode() == pgtls.Prefer && h.refused(conn, in, login) {
		secure := conn
		secure.Close()
		conn, in, err = h.start(packet, func() (link, error) {
			ctx, cancel := h.limited(ctx)
			defer cancel()
			plain, err := h.dialer(secure.host).dialPlain(ctx, nil, nil)
			return link{plain, secure.host, secure.over}, err
		})
		if err == nil {
			conn.written.Add(secure.written.Load())
		}
	}
	if err != nil {
		return nil, nil, unreachable(err)
	}
	return conn, in, nil
}

// unreachable is the client's error when upstream cannot be reached.
func unreachable(err error) error {
	if errors.As(err, new(clientError)) {
		return err
	}
	return clientError{failDial, err}
}

func (h *hosts) start(packet []byte, dial func() (link, error)) (*upstreamConn, *frame.Inbox, error) {
	began := time.Now()
	l, err := dial()
	if err != nil {
		h.counters.count(connectFailed)
		return nil, nil, err
	}
	h.counters.count(connectOK)
	h.counters.connectTimes.Observe(time.Since(began))
	conn := &upstreamConn{link: l, to: frame.NewOutlet(l.Conn)}
	n, err := l.Write(packet)
	conn.written.Add(int64(n))
	if err != nil {
		l.Close()
		if conn.refusesTLS(err) {
			err = clientError{failUpstreamTLS, err}
		}
		return nil, nil, err
	}
	in := frame.NewInbox(l.Conn, h.buffers)
	in.AllowWide()
	return conn, in, nil
}

// refused says whether upstream's first message inside TLS is that pg_hba.conf has no line for it. That message stays
// in the inbox.
func (h *hosts) refused(conn *upstreamConn, in *frame.Inbox, login time.Time) bool {
	if _, inside := conn.Conn.(pgtls.Conn); !inside || conn.SetReadDeadline(login) != nil {
		return false
	}
	hangUp := func() { conn.Close() } // there is no session yet that could be ended
	defer context.AfterFunc(h.ended, hangUp)()
	defer context.AfterFunc(conn.over, hangUp)()
	f, err := in.Await()
	return conn.SetReadDeadline(noDeadline) == nil && err == nil && f.Kind == wire.BackendErrorResponse &&
		string(wire.ErrorField(f.Body, 'C')) == "28000"
}
