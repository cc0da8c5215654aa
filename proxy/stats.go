package proxy

import (
	"pgflurry/histogram"
	"pgflurry/proxy/tally"
)

// Stats counts since the proxy was made. Each map has all its labels, also those at zero.
type Stats struct {
	Sessions int   // open now
	Opened   int64 // sessions that reached upstream
	// Open are the connections of clients by what they do. All together, with those of Inside, are those that
	// MaxClients limits.
	//
	//	login           accepted, and not at its first ReadyForQuery; among them who only cancels a statement
	//	idle            outside a transaction, and nothing is owed by upstream
	//	in_transaction  inside a transaction block, or upstream is at work, which is a transaction of its own
	//	failed          inside a transaction block that failed
	//
	// Of a session that only relays nobody knows what is owed: there its last ReadyForQuery decides.
	Open map[string]int
	// Limit is how many sessions may be open, by MaxSessions and MaxClients; 0: no limit. Full says that all places
	// are taken. One more is turned away then, unless one that has not logged in gives way to it.
	Limit int
	Full  bool

	Answers int64 // statements answered from memory
	// ByKind is the same by form: snowflake (one row), snowflakes (several rows, or as many as a parameter says),
	// segment (numbers of a tag).
	ByKind  map[string]int64
	IDs     int64 // IDs in them
	Numbers int64 // numbers of tags in them
	// Waits is how long answers waited for their IDs and numbers. Most do not wait at all: those are in the first
	// bucket. An answer is counted once, and so are all of a batch, which wait together.
	Waits histogram.Snapshot

	Declined int64 // statements that were forwarded because there was nothing in memory for them
	// DeclinedBy is the same by reason, as Decline names them.
	DeclinedBy map[string]int64
	// TurnedAway counts connections of clients that a limit closed: at once, or before they had logged in.
	TurnedAway int64

	// Closed are sessions that ended, by the reason that came first (reason.go). With Sessions they make up Opened.
	Closed map[string]int64
	// Logins are connections that asked for a session, by how that ended: ok is the first ReadyForQuery, refused is
	// PostgreSQL's word, failed is everything else. Who connects and leaves without a byte asks for nothing.
	Logins map[string]int64
	// LoginDurations are from accept to the first ReadyForQuery, so a client that takes its time is in them.
	LoginDurations histogram.Snapshot
	// Connects are attempts to reach upstream for a session, ok or failed, with the handshake of TLS.
	// ConnectTimes are those of the ones that are ok.
	Connects     map[string]int64
	ConnectTimes histogram.Snapshot
	// Cancels are requests to cancel a statement: passed on, failed to be, or dropped because of too many.
	Cancels map[string]int64

	// ToUpstream and ToClient are bytes of sessions, without TLS around them. ToClient has what the proxy itself said.
	ToUpstream, ToClient int64
}

// Stats folds the counters of all sessions. It is cheap enough to be called every second with thousands of them, and
// waits for no client.
func (p *Proxy) Stats() Stats {
	p.mu.Lock()
	all := p.sessionsLocked()
	sum, clients, places, limit := p.ended, p.limits.clients.Load(), p.places, p.limitLocked()
	p.mu.Unlock()
	guests := p.guests.Load()

	open := [tally.States]int{}
	for _, s := range all { // each may end meanwhile; sum has none of them
		sum.add(s)
		open[s.conversation.state()]++
	}
	open[tally.Login] += max(int(clients)-len(all)-int(guests), 0)

	st := Stats{Sessions: len(all), Opened: sum.opened, Open: tally.Labelled(tally.StateLabels[:], open[:])}
	st.Limit, st.Full = limit, limit > 0 && places >= limit || p.limits.full(clients, guests)
	st.IDs, st.Numbers = sum.ids, sum.numbers
	st.ToUpstream, st.ToClient = sum.toUpstream, sum.toClient
	st.Closed = tally.Labelled(reasonLabels[1:], sum.closed[1:])
	st.TurnedAway = p.limits.turnedAway.Load()
	p.counters.tell(&st, sum.answers)
	return st
}

// limitLocked is how many sessions may be open; 0: as many as come.
func (p *Proxy) limitLocked() int {
	most := int(p.limits.maxClients.Load())
	if p.maxSessions > 0 && (most <= 0 || p.maxSessions < most) {
		most = p.maxSessions
	}
	return max(most, 0)
}
