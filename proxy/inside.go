package proxy

import (
	"log/slog"
	"net"
	"time"

	"pgflurry/proxy/wire"
)

// Inside serves the sessions of the ID database, which needs no upstream; package idserver implements it. Its methods
// are called concurrently.
type Inside interface {
	// Has says whether this is the database that it serves.
	Has(database string) bool
	// Serve logs a client in and serves it until its end; then the caller closes conn. conn is the client's connection,
	// or TLS on top of it (pgtls.Conn). wanted is its StartupMessage. The client has to log in before login. Serve
	// calls loggedIn when the client has proved who it is. Until then the proxy may close conn to make room for another
	// client. After that, only Inside ends the session.
	Serve(conn net.Conn, wanted *wire.Startup, login time.Time, loggedIn func(), log *slog.Logger)
	// Cancels takes a CancelRequest as it came. It returns false if the key is of no session of its own.
	Cancels(request []byte) bool
}

// guest is a client of Inside.
type guest struct {
	wanted *wire.Startup
	client net.Conn
	here   bool // it has logged in, or is over
}

// arrived says that a handover of the listening socket need not wait for the guest any more. Calls may repeat, from one
// goroutine after another.
func (g *guest) arrived(p *Proxy) {
	if !g.here {
		g.here = true
		p.registry.Arrived()
	}
}

// belongsInside says whether Inside serves this session.
func (p *Proxy) belongsInside(packet startupPacket) bool {
	return p.inside != nil && !packet.cancel && !packet.refused && p.inside.Has(packet.Database)
}

// cancelsInside gives a cancel request to Inside. It returns false if the request is for upstream.
func (p *Proxy) cancelsInside(packet startupPacket) bool {
	return p.inside != nil && packet.cancel && p.inside.Cancels(packet.raw)
}

// host serves a guest until its end. The end of a Drain does not end it.
func (p *Proxy) host(c *connection, g *guest) {
	defer p.limits.Guest()()
	defer g.arrived(p)
	wanted := g.wanted
	g.wanted = nil // an idle session keeps nothing of it
	p.inside.Serve(g.client, wanted, c.login, g.loggedIn(p, c.admitted), c.log)
}

// loggedIn makes the callback for the moment when the guest has logged in.
func (g *guest) loggedIn(p *Proxy, a *admitted) func() {
	return func() {
		a.LoggedIn()
		g.arrived(p)
	}
}
