package proxy

import (
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"pgflurry/proxy/origin"
)

// What bounds clients of whom nobody knows yet who they are. Each costs a descriptor and some memory, and there may be
// any number.
//
//	Settings.MaxClients            all connections: descriptors
//	Settings.MaxLogins, …PerAddress  from accept until PostgreSQL has let the client in (AuthenticationOk): memory
//	maxHandshakes                  those inside a TLS handshake: much memory
//	Settings.MaxSessions           connections to PostgreSQL: those that are still logging in give way
//	maxCancels                     those that only cancel a statement: connections to PostgreSQL
//
// In all but the first a crowd decides who gives way (crowd.go). It ends at AuthenticationOk, not at the first
// ReadyForQuery, since that is where PostgreSQL's own authentication_timeout ends: what comes behind it is PostgreSQL's
// time, or that of a pooler's queue.

const (
	defaultHandshakeTimeout = 5 * time.Second
	// maxHandshakes is how many TLS handshakes are at work at once, each with up to 150 kB of memory. Others wait, with
	// no more than their first record. A handshake takes a millisecond of a processor.
	maxHandshakes = 64
	// maxCancels is how many requests to cancel a statement are on their way at once. Each is a connection to
	// PostgreSQL for about a millisecond.
	maxCancels = 32
)

// limits are the crowds of one proxy.
type limits struct {
	maxClients atomic.Int64 // no limit if zero or less
	clients    atomic.Int64
	turnedAway atomic.Int64
	logins     *crowd
	handshakes *crowd
	cancels    *crowd
	placed     *crowd // those of logins that have a place among the sessions; limited by the number of those
}

// newLimits makes them; Change says how many there may be.
func newLimits(fairTime time.Duration) limits {
	return limits{
		logins:     newCrowd(0, 0, fairTime),
		handshakes: newCrowd(maxHandshakes, 0, fairTime),
		cancels:    newCrowd(maxCancels, 0, fairTime),
		placed:     newCrowd(0, 0, fairTime),
	}
}

// admitted is a connection that the limits let in, until leave.
type admitted struct {
	limits  *limits
	rules   *rules
	from    netip.Prefix
	since   time.Duration // accepted, since the proxy was made
	login   *member       // nil: it has logged in, or was sent away
	gaveWay atomic.Bool
}

// welcome lets a connection in that was just accepted, or closes it; then it is nil.
func (p *Proxy) welcome(conn net.Conn) *admitted {
	l, from := &p.limits, origin.Of(conn.RemoteAddr())
	if n := l.clients.Add(1); l.over(n, p.guests.Load()) {
		p.turnAway(conn, "more connections of clients than there are descriptors for")
		return nil
	}
	a := &admitted{limits: l, rules: p.rules.Load(), from: from, since: time.Since(p.made)}
	a.login = l.logins.enter(from, func() { p.giveWay(conn, a) })
	if a.login == nil {
		p.turnAway(conn, "too many connections that have not logged in")
		return nil
	}
	return a
}

// full says that one more connection would be turned away, of clients that are connected.
func (l *limits) full(clients, guests int64) bool { return l.over(clients+1, guests) }

// over says that clients are more than descriptors allow. Two guests need no more of those than one other client.
func (l *limits) over(clients, guests int64) bool {
	most := l.maxClients.Load()
	return most > 0 && clients-guests/2 > most
}

// turnAway closes a connection at once. What it is told fits into the buffers of a socket that nothing was written to,
// so it does not wait. Where TLS is required nothing is said in plain text.
func (p *Proxy) turnAway(conn net.Conn, why string) {
	p.limits.turnedAway.Add(1)
	p.log.Warn("connection turned away", "cause", why, "client", conn.RemoteAddr())
	if !p.rules.Load().requireTLS {
		tellClient(conn, clientError{code: failTooMany})
	}
	conn.Close()
	p.limits.clients.Add(-1)
}

// giveWay ends a connection in favour of another one. A Close may wait for a relay to look up from its work.
func (p *Proxy) giveWay(conn net.Conn, a *admitted) {
	a.gaveWay.Store(true)
	p.limits.turnedAway.Add(1)
	p.conns.Go(func() {
		conn.Close()
		p.log.Warn("connection that has not logged in gives way to another", "client", conn.RemoteAddr())
	})
}

// loggedIn ends what only strangers are bound by. It may be called more than once, by one goroutine.
func (a *admitted) loggedIn() {
	a.limits.logins.leave(a.login)
	a.login = nil
}

// leave is the end of the connection.
func (a *admitted) leave() {
	a.loggedIn()
	a.limits.clients.Add(-1)
}

// loggedIn: upstream has let the client in. The goroutine that reads upstream calls it.
func (s *session) loggedIn() {
	s.admitted.loggedIn()
	s.proxy.limits.placed.leave(s.stranger)
}
