package proxy

import (
	"log/slog"
	"net"
	"time"
)

// Inside serves the sessions of a database that needs no upstream. Its methods are called concurrently.
type Inside interface {
	// Has says that a database is the one that it serves.
	Has(database string) bool
	// Serve logs a client in and serves it until its end; whoever called closes conn then. conn is the client's
	// connection, or TLS on top of it (pgtls.Conn). startup is its StartupMessage as it came. The client has until
	// login, and loggedIn is to be called once it is known who it is: until then it may have to give way to others,
	// which closes conn. Nothing but Inside ends the session after that.
	Serve(conn net.Conn, startup []byte, login time.Time, loggedIn func(), log *slog.Logger)
	// Cancels takes a CancelRequest as it came, if its key is that of a session of its own; false: it is not.
	Cancels(request []byte) bool
}

// guest is a client of Inside.
type guest struct {
	startup []byte
	client  net.Conn
	here    bool // it has logged in, or is over
}

// arrived: whoever hands the listening socket over need not wait for it any more. It may be called more than once, by
// one goroutine after the other.
func (g *guest) arrived(p *Proxy) {
	if !g.here {
		g.here = true
		p.arrived()
	}
}

// belongsInside says that a session is to be served by Inside.
func (p *Proxy) belongsInside(o opening) bool {
	return p.inside != nil && !o.cancel && !o.refused && p.inside.Has(o.database)
}

// cancelsInside takes a request to cancel a statement that is not for upstream.
func (p *Proxy) cancelsInside(o opening) bool {
	return p.inside != nil && o.cancel && p.inside.Cancels(o.raw)
}

// host serves a guest until its end. A Drain that is over does not end it.
func (p *Proxy) host(v *visit, g *guest) {
	p.guests.Add(1)
	defer p.unhost(g)
	p.inside.Serve(g.client, g.startup, v.login, g.loggedIn(p, v.admitted), v.log)
}

func (p *Proxy) unhost(g *guest) {
	g.arrived(p)
	p.guests.Add(-1)
}

// loggedIn is to be called once it is known who the guest is.
func (g *guest) loggedIn(p *Proxy, a *admitted) func() {
	return func() {
		a.loggedIn()
		g.arrived(p)
	}
}
