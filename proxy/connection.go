package proxy

import (
	"context"
	"log/slog"
	"net"
	"time"
)

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

func (p *Proxy) connection(conn net.Conn, id int64, a *admitted) *connection {
	return &connection{
		conn: conn, client: conn, admitted: a, keep: context.AfterFunc(p.ctx, func() { conn.Close() }),
		login: time.Now().Add(a.rules.loginTimeout), log: p.log.With("session", id, "client", conn.RemoteAddr()),
	}
}

// end is deferred. It also keeps a panic in one session from ending the others.
func (c *connection) end() {
	if fault := recover(); fault != nil {
		logFault(c.log, fault)
	}
	c.client.Close()
	c.keep()
	c.conn.Close()
	c.admitted.Leave()
}
