package proxy

import (
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"pgflurry/proxy/origin"
)

// Limits on clients that have not logged in. Each costs a descriptor and some memory, and there may be any number.
//
//	Settings.MaxClients            all connections: descriptors
//	Settings.MaxLogins, …PerAddress  from accept until PostgreSQL has let the client in (AuthenticationOk): memory
//	maxHandshakes                  those inside a TLS handshake that do not wait for their client: processors
//	Settings.MaxSessions           connections to PostgreSQL: those that are still logging in give way
//	maxCancels                     those that only cancel a statement: connections to PostgreSQL
//
// For all but the first, a crowd decides who gives way (crowd.go). Its limits end at AuthenticationOk, where
// PostgreSQL's authentication_timeout ends, too. What comes between it and the first ReadyForQuery is PostgreSQL's
// time, or that of a pooler's queue.

const (
	defaultHandshakeTimeout = 5 * time.Second
	// maxHandshakes is how many TLS handshakes work at once. Each needs a processor for a millisecond. Before it has
	// worked, it has no more than its first record in memory. While it waits for its client it has 44 kB; MaxLogins
	// limits those.
	maxHandshakes = 64
	// maxCancels is how many cancel requests are on their way at once. Each is a connection to PostgreSQL for about a
	// millisecond.
	maxCancels = 32
)

// limits are the crowds of one proxy.
type limits struct {
	maxClients atomic.Int64 // no limit if zero or less
	clients    atomic.Int64
	turnedAway atomic.Int64
	usual      *usual // of all crowds
	logins     *crowd
	handshakes *crowd
	cancels    *crowd
	placed     *crowd // members of logins that have a place among the sessions; the number of places limits it
}

// newLimits makes the crowds. Change sets their limits.
func newLimits(fairTime time.Duration) limits {
	known := &usual{addresses: make(map[netip.Prefix]struct{})}
	return limits{
		usual:      known,
		logins:     newCrowd(0, 0, fairTime, known),
		handshakes: newCrowd(maxHandshakes, 0, fairTime, known),
		cancels:    newCrowd(maxCancels, 0, fairTime, known),
		placed:     newCrowd(0, 0, fairTime, known),
	}
}

// admitted is a connection that the limits have let in.
type admitted struct {
	limits  *limits
	rules   *rules
	from    netip.Prefix
	since   time.Duration // when it was accepted, from the proxy's start
	login   *member       // nil: it has logged in, or had to give way
	gaveWay atomic.Bool
}

// welcome lets in a connection that was just accepted. If a limit forbids it, it closes the connection and returns nil.
func (p *Proxy) welcome(conn net.Conn) *admitted {
	l, from := &p.limits, origin.Of(conn.RemoteAddr())
	if n := l.clients.Add(1); l.over(n, p.guests.Load()) {
		p.turnAway(conn, failDescriptors, "more connections of clients than there are descriptors for")
		return nil
	}
	a := &admitted{limits: l, rules: p.rules.Load(), from: from, since: time.Since(p.made)}
	a.login = l.logins.enter(from, func() { p.giveWay(conn, a) })
	if a.login == nil {
		p.turnAway(conn, failTooManyLogins, "too many connections that have not logged in")
		return nil
	}
	return a
}

// full says whether one more connection would be turned away.
func (l *limits) full(clients, guests int64) bool { return l.over(clients+1, guests) }

// over says whether there are more clients than the descriptors allow. Two guests need as many descriptors as one other
// client.
func (l *limits) over(clients, guests int64) bool {
	most := l.maxClients.Load()
	return most > 0 && clients-guests/2 > most
}

// turnAway closes a connection at once. Its message fits into the empty buffers of the socket, so the write does not
// wait. Where TLS is required, the proxy says nothing in plain text.
func (p *Proxy) turnAway(conn net.Conn, code failure, why string) {
	p.limits.turnedAway.Add(1)
	p.log.Warn("connection turned away", "cause", why, "client", conn.RemoteAddr())
	if !p.rules.Load().requireTLS {
		tellClient(conn, clientError{code: code})
	}
	conn.Close()
	p.limits.clients.Add(-1)
}

// giveWay closes a connection in favour of another one. It does so in a goroutine, since Close may wait for a relay
// that is at work.
func (p *Proxy) giveWay(conn net.Conn, a *admitted) {
	a.gaveWay.Store(true)
	p.limits.turnedAway.Add(1)
	p.conns.Go(func() {
		conn.Close()
		p.log.Warn("connection that has not logged in gives way to another", "client", conn.RemoteAddr())
	})
}

// loggedIn ends the limits on logins for this connection. One goroutine may call it more than once.
func (a *admitted) loggedIn() {
	a.limits.usual.add(a.from)
	a.limits.logins.leave(a.login)
	a.login = nil
}

// leave ends the connection.
func (a *admitted) leave() {
	a.limits.logins.leave(a.login)
	a.limits.clients.Add(-1)
}

// loggedIn notes that upstream has let the client in. The goroutine that reads upstream calls it.
func (s *session) loggedIn() {
	s.admitted.loggedIn()
	s.proxy.limits.placed.leave(s.stranger)
}
