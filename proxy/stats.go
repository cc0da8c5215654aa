package proxy

import "pgflurry/proxy/tally"

// Stats adds up the counters of all sessions. It waits for no client, and is cheap enough for a call every second with
// thousands of sessions.
func (p *Proxy) Stats() Stats {
	all, sum := p.registry.open()
	clients, most := p.limits.Clients()
	taken, limit := p.limits.Sessions.Taken()
	if limit = max(limit, 0); most > 0 && (limit == 0 || most < limit) {
		limit = most
	}

	open := [tally.States]int{}
	for _, e := range all { // a session may end meanwhile, but sum contains none of these yet
		sum.add(e)
		open[e.conversation.State()]++
	}
	open[tally.Login] += max(clients-len(all)-p.limits.Guests(), 0)

	var st Stats
	st.IDs, st.Numbers = sum.ids, sum.numbers
	st.Now, st.Opened, st.TurnedAway = len(all), sum.opened, p.limits.TurnedAway()
	st.Open = tally.Labelled(tally.StateLabels[:], open[:])
	st.Limit, st.Full = limit, limit > 0 && taken >= limit || p.limits.Full()
	st.Closed = tally.Labelled(reasonLabels[1:], sum.closed[1:])
	st.Relayed = map[string]int64{"to_upstream": sum.toUpstream, "to_client": sum.toClient}
	p.counters.fill(&st, sum.answers)
	return st
}
