package proxy

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"time"
)

// passOnce passes on a packet that begins no session.
func (p *Proxy) passOnce(client net.Conn, o opening, log *slog.Logger) {
	err := p.relayOnce(client, o.raw)
	switch {
	case err == nil:
	case o.cancel:
		log.Warn("cancel request was not passed on", "cause", err)
	default:
		tellClient(client, unreachable(err))
		log.Warn("a startup packet that PostgreSQL would refuse was not passed on", "cause", err)
	}
}

// relayOnce passes on one packet, and whatever upstream says to it until it closes. To a CancelRequest it says nothing; as libpq does,
// the client waits for the close: then it was handled.
func (p *Proxy) relayOnce(client net.Conn, raw []byte) error {
	server, err := p.dialUpstream(context.Background())
	if err != nil {
		return err
	}
	defer server.Close()
	defer context.AfterFunc(p.ctx, func() { server.Close() })()
	deadline := time.Now().Add(p.dialTimeout)
	if err := errors.Join(server.SetDeadline(deadline), client.SetDeadline(deadline)); err != nil {
		return err
	}
	if _, err := server.Write(raw); err != nil {
		return err
	}
	_, err = io.Copy(client, server)
	return err
}
