package proxy

import (
	"log/slog"
	"net"
	"time"

	"pgflurry/proxy/internal/wire"
)

// Inside serves the sessions of the ID database, which needs no upstream; package idserver implements it. Its methods
// are called concurrently.
type Inside interface {
	// Has says whether this is the database that it serves.
	Has(database string) bool
	// Serve logs a client in and serves it until its end; then the caller closes conn. conn is the client's connection,
	// or TLS on top of it (pgtls.Conn). wanted is its StartupMessage. The client has to log in before login. Serve
	// calls loggedIn when the client has proved who it is. Until then the proxy may close conn to make room for another
	// client. After that, only Inside ends the session. If loggedIn is false, the client has to go all the same.
	Serve(conn net.Conn, wanted *wire.Startup, login time.Time, loggedIn func() bool, log *slog.Logger)
	// Cancels takes a CancelRequest as it came. It returns false if the key is of no session of its own.
	Cancels(request []byte) bool
}

// insideSession is the engine of a client of Inside.
type insideSession struct{ wanted *wire.Startup }

// belongsInside says whether Inside serves this session.
func (p *Proxy) belongsInside(packet startupPacket) bool {
	return p.inside != nil && !packet.cancel && !packet.refused && p.inside.Has(packet.Database)
}

// cancelsInside gives a cancel request to Inside. It returns false if the request is for upstream.
func (p *Proxy) cancelsInside(packet startupPacket) bool {
	return p.inside != nil && packet.cancel && p.inside.Cancels(packet.raw)
}

// run hands the client over. The end of a Drain does not end it.
func (g *insideSession) run(p *Proxy, c *connection) {
	c.keep()
	c.admitted.NeedNoUpstream()
	wanted := g.wanted
	g.wanted = nil // an idle session keeps nothing of it
	p.inside.Serve(c.client, wanted, c.login, p.loggedIn(c.admitted), c.log)
}

// loggedIn makes the callback for the moment when an inside session has logged in.
func (p *Proxy) loggedIn(a *admitted) func() bool {
	return func() bool {
		in := a.LoggedIn()
		p.arrived(a)
		return in
	}
}
