package proxy

import (
	"net"
	"time"

	"pgflurry/proxy/internal/admission"
	"pgflurry/proxy/internal/frontend"
	"pgflurry/proxy/pgtls"
)

// welcome lets in a connection that was just accepted. If a limit forbids it, it turns the connection away and returns
// nil.
func (p *Proxy) welcome(conn net.Conn) *admitted {
	a := &admitted{rules: p.rules.Load(), since: p.counters.age()}
	err := p.limits.Enter(&a.Connection, admission.Origin(conn.RemoteAddr()), func() { p.giveWay(conn, a) })
	if err != nil {
		p.hear(conn, a, err)
		return nil
	}
	return a
}

// hear turns a connection away, unless it only cancels a statement: people cancel when all places are taken. It reads
// the first packet for that, for a second at most. Of too many such connections the oldest gives way.
func (p *Proxy) hear(conn net.Conn, a *admitted, why error) {
	slot := p.limits.Unread.Enter(a.From, func() { _ = conn.SetReadDeadline(longAgo) })
	if slot == nil {
		p.turnAway(conn, why)
		return
	}
	p.conns.Go(func() {
		defer p.limits.Unread.Leave(slot)
		client, cancels := conn, false
		_ = frontend.Apart(p.log, errInternal, func() (err error) {
			var packet startupPacket
			client, packet, err = p.admit(conn, a, time.Now().Add(admission.UnreadTime))
			if cancels = err == nil && packet.cancel; cancels {
				p.passOn(client, packet, a.From, p.log)
			}
			return err
		})
		if cancels {
			client.Close()
		} else {
			p.turnAway(client, why)
		}
	})
}

// turnAway closes a connection at once. Its message fits into the empty buffers of the socket, so the write does not
// wait. Where TLS is required, the proxy says nothing in plain text.
func (p *Proxy) turnAway(conn net.Conn, why error) {
	p.log.Warn("connection turned away", "cause", why, "client", conn.RemoteAddr())
	if _, inside := conn.(pgtls.Conn); inside || !p.rules.Load().RequireTLS {
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
