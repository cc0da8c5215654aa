package node

import (
	"pgflurry/internal/config"
	"pgflurry/proxy"
)

const (
	// ownDescriptors are reserved for the process itself: lease, listener, logs, clock, and cancel requests beyond the
	// limits with their connections to PostgreSQL.
	ownDescriptors = 64
	// databaseDescriptors are reserved for each database: its look and its blocks of numbers, and one more of each
	// while a connection is replaced.
	databaseDescriptors = 4
	// hostDescriptors are reserved for each host that is asked whether it is the primary.
	hostDescriptors = 2
)

// limit formats a limit for the log.
func limit(most int) any {
	if most == 0 {
		return "none"
	}
	return most
}

// applyLimits sets the limits of a proxy, and the one that follows from the process's descriptors. Clients that have
// not spoken get at most half of those, and clients that log in an eighth. A quarter is for those that wait to log in
// (package admission). So they cannot keep real clients out.
func applyLimits(l config.Limits, s *proxy.Rules, databases, hosts, descriptors int) {
	s.MaxSessions, s.MaxLogins, s.MaxLoginsPerAddress = l.MaxConnections, l.MaxLogins, l.MaxLoginsPerAddress
	s.MaxUpstreamLogins = l.MaxUpstreamLogins
	s.LoginTimeout, s.HandshakeTimeout = l.LoginTimeout, l.ClientTLSTimeout
	if descriptors == 0 {
		return
	}
	reserve := ownDescriptors + databaseDescriptors*databases + hostDescriptors*hosts
	s.MaxClients = max((descriptors-reserve)/2, 1)
	s.MaxLogins = atMost(s.MaxClients/2, s.MaxLogins)
	s.MaxUpstreamLogins = atMost(s.MaxClients/8, s.MaxUpstreamLogins)
}

// atMost bounds a limit that is none if zero.
func atMost(most, limit int) int {
	if most = max(most, 1); limit == 0 {
		return most
	}
	return min(limit, most)
}
