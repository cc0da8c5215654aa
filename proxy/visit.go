package proxy

import (
	"context"
	"log/slog"
	"net"
	"time"
)

// visit is a connection of a client, from accept to its end. The frame of serve has a pointer to it and little else: an
// idle session keeps that frame on its stack, and a stack of 8 KiB shrinks to 4 only while few of them are in use.
type visit struct {
	conn     net.Conn
	client   net.Conn // conn, or TLS on top of it
	admitted *admitted
	keep     func() bool // takes back that the proxy closes conn when it stops
	login    time.Time   // until then it has to be known who the client is
	log      *slog.Logger
}

func (p *Proxy) visit(conn net.Conn, id int64, a *admitted) *visit {
	return &visit{
		conn: conn, client: conn, admitted: a, keep: context.AfterFunc(p.ctx, func() { conn.Close() }),
		login: time.Now().Add(a.rules.loginTimeout), log: p.log.With("session", id, "client", conn.RemoteAddr()),
	}
}

// end is deferred, and keeps a fault in one session from ending the others.
func (v *visit) end() {
	if fault := recover(); fault != nil {
		logFault(v.log, fault)
	}
	v.client.Close()
	v.keep()
	v.conn.Close()
	v.admitted.leave()
}
