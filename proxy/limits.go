package proxy

import (
	"net"

	"pgflurry/proxy/internal/admission"
)

// welcome lets in a connection that was just accepted. If a limit forbids it, it closes the connection and returns nil.
func (p *Proxy) welcome(conn net.Conn) *admitted {
	a := &admitted{rules: p.rules.Load(), since: p.counters.age()}
	err := p.limits.Enter(&a.Connection, admission.Origin(conn.RemoteAddr()), func() { p.giveWay(conn, a) })
	if err != nil {
		p.turnAway(conn, err)
		return nil
	}
	return a
}

// turnAway closes a connection at once. Its message fits into the empty buffers of the socket, so the write does not
// wait. Where TLS is required, the proxy says nothing in plain text.
func (p *Proxy) turnAway(conn net.Conn, why error) {
	p.log.Warn("connection turned away", "cause", why, "client", conn.RemoteAddr())
	if !p.rules.Load().RequireTLS {
		f := failTooManyLogins
		if why == admission.ErrClients {
			f = failDescriptors
		}
		tellClient(conn, clientError{failure: f})
	}
	conn.Close()
}

// giveWay closes a connection in favour of another one. It does so in a goroutine, since Close may wait for a relay
// that is at work.
func (p *Proxy) giveWay(conn net.Conn, a *admitted) {
	a.GiveWay()
	p.conns.Go(func() {
		conn.Close()
		p.log.Warn("connection that has not logged in gives way to another", "client", conn.RemoteAddr())
	})
}
