package proxy

import (
	"pgflurry/histogram"
	"pgflurry/proxy/tally"
)

// Stats has the counts since the proxy started. Each map has all its labels, including those at zero.
type Stats struct {
	Sessions int   // open now
	Opened   int64 // sessions that reached upstream
	// Open has the client connections by what they do. Together with those of Inside they are the ones that MaxClients
	// limits.
	//
	//	login           accepted, before its first ReadyForQuery; includes cancel requests
	//	idle            outside a transaction, and upstream owes nothing
	//	in_transaction  inside a transaction block, or upstream is at work, which is a transaction of its own
	//	failed          inside a transaction block that failed
	//
	// For a session that only relays, nobody knows what is owed; there its last ReadyForQuery decides.
	Open map[string]int
	// Limit is how many sessions may be open, by MaxSessions and MaxClients; 0: no limit. Full says that all places are
	// taken. Then the proxy turns a newcomer away, unless a session that has not logged in gives way to it.
	Limit int
	Full  bool

	Answers int64 // statements answered from memory
	// ByKind is the same by form: snowflake (one row), snowflakes (several rows, or as many as a parameter says),
	// segment (numbers of a tag).
	ByKind  map[string]int64
	IDs     int64 // IDs in them
	Numbers int64 // numbers of tags in them
	// Waits is how long answers waited for their IDs and numbers. Most do not wait: the first bucket counts those. Each
	// statement counts once. All statements of a batch wait together.
	Waits histogram.Snapshot

	Declined int64 // statements forwarded because memory had nothing for them
	// DeclinedBy is the same by reason, as Decline names them.
	DeclinedBy map[string]int64
	// TurnedAway counts client connections that a limit closed: at once, or before they had logged in.
	TurnedAway int64

	// Closed are sessions that ended, by the reason that came first (reason.go). Closed and Sessions add up to Opened.
	Closed map[string]int64
	// Logins are connections that asked for a session, by outcome: ok is the first ReadyForQuery, refused is
	// PostgreSQL's refusal, failed is everything else. A client that leaves without a byte has asked for nothing.
	Logins map[string]int64
	// LoginDurations last from accept to the first ReadyForQuery. They include the time that the client takes.
	LoginDurations histogram.Snapshot
	// Connects are attempts to reach upstream for a session, ok or failed, including the TLS handshake. ConnectTimes
	// has the durations of those that succeeded.
	Connects     map[string]int64
	ConnectTimes histogram.Snapshot
	// Cancels are cancel requests: passed on, failed, or dropped because there were too many.
	Cancels map[string]int64

	// ToUpstream and ToClient are bytes of sessions, without those of TLS. ToClient includes the proxy's own replies.
	ToUpstream, ToClient int64
}

// Stats adds up the counters of all sessions. It waits for no client, and is cheap enough for a call every second with
// thousands of sessions.
func (p *Proxy) Stats() Stats {
	p.mu.Lock()
	all := p.sessionsLocked()
	sum, clients, places, limit := p.ended, p.limits.clients.Load(), p.places, p.limitLocked()
	p.mu.Unlock()
	guests := p.guests.Load()

	open := [tally.States]int{}
	for _, s := range all { // a session may end meanwhile, but sum contains none of these yet
		sum.add(s)
		open[s.conversation.State()]++
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

// limitLocked is how many sessions may be open; 0: no limit.
func (p *Proxy) limitLocked() int {
	most := int(p.limits.maxClients.Load())
	if p.maxSessions > 0 && (most <= 0 || p.maxSessions < most) {
		most = p.maxSessions
	}
	return max(most, 0)
}
