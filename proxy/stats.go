package proxy

import "pgflurry/proxy/internal/frontend"

// Stats adds up the counters of all sessions. It waits for no client, and is cheap enough for a call every second with
// thousands of sessions.
func (p *Proxy) Stats() Stats {
	all, sum := p.registry.Open()
	clients, most := p.limits.Clients()
	taken, limit := p.limits.Sessions.Taken()
	if limit = max(limit, 0); most > 0 && (limit == 0 || most < limit) {
		limit = most
	}

	open := [frontend.States]int{}
	for _, e := range all { // a session may end meanwhile, but sum contains none of these yet
		e.AddTo(&sum)
		open[e.conversation.State()]++
	}
	open[frontend.Login] += max(clients-len(all)-p.limits.Inside(), 0)

	var st Stats
	st.IDs, st.Numbers = sum.IDs, sum.Numbers
	st.Now, st.Opened, st.TurnedAway = len(all), sum.Opened, p.limits.TurnedAway()
	st.Open = frontend.Labelled(frontend.StateLabels[:], open[:])
	st.Limit, st.Full = limit, limit > 0 && taken >= limit || p.limits.Full()
	st.Closed = sum.Closed(
		frontend.ClosedClient, frontend.ClosedRefused, frontend.ClosedUpstream, frontend.ClosedDrain,
		frontend.ClosedLimit, frontend.ClosedTimeout, frontend.ClosedProtocol, frontend.ClosedFault,
		frontend.ClosedDemoted,
	)
	st.Relayed = map[string]int64{"to_upstream": sum.ToUpstream, "to_client": sum.ToClient}
	p.counters.fill(&st, sum.Answers)
	return st
}
