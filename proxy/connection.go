package proxy

import (
	"context"
	"log/slog"
	"net"
	"time"

	"pgflurry/proxy/internal/admission"
)

// admitted is a connection that the limits have let in.
type admitted struct {
	admission.Connection
	rules *Rules
	since time.Duration // when it was accepted, from the proxy's start
	here  bool          // a handover need not wait for it (Proxy.arrived)
}

// connection is one of a client, from accept to its end. The stack frame of serve has a pointer to it and little
// else. An idle session keeps that frame on its stack. The stack shrinks from 8 KiB to 4 only while little of it is in
// use.
type connection struct {
	conn     net.Conn
	client   net.Conn // conn, or TLS on top of it
	admitted *admitted
	keep     func() bool // stops the proxy from closing conn at its own end
	login    time.Time   // the deadline of the login
	log      *slog.Logger
}

// newConnection is the connection with this number. It is closed when ctx ends, unless keep is called before.
func newConnection(ctx context.Context, conn net.Conn, id int64, a *admitted, log *slog.Logger) *connection {
	return &connection{
		conn: conn, client: conn, admitted: a, keep: context.AfterFunc(ctx, func() { conn.Close() }),
		login: time.Now().Add(a.rules.LoginTimeout), log: log.With("session", id, "client", conn.RemoteAddr()),
	}
}

// close ends it, and what was kept for it.
func (c *connection) close() {
	c.client.Close()
	c.keep()
	c.conn.Close()
	c.admitted.Leave()
}
