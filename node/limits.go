package node

import (
	"errors"
	"fmt"
	"time"

	"pgflurry/proxy"
)

const (
	// ownDescriptors are reserved for the process itself: lease, listener, logs, clock.
	ownDescriptors = 32
	// databaseDescriptors are reserved for each database: its look and its blocks of numbers, and one more of each
	// while a connection is replaced.
	databaseDescriptors = 4
	// hostDescriptors are reserved for each host that is asked whether it is the primary.
	hostDescriptors = 2
)

// Limits bound the clients of a node.
type Limits struct {
	// MaxConnections is how many sessions may be open at once, each a connection to PostgreSQL. Zero: no limit.
	MaxConnections int
	// MaxLogins is how many connections may be open at once that have not logged in.
	// Zero: half of all that descriptors allow.
	MaxLogins int
	// MaxLoginsPerAddress is the same for each address of clients. Zero: no limit of its own.
	MaxLoginsPerAddress int
	// LoginTimeout is how long a client may take from connecting to the end of its login. Zero: 60 s.
	LoginTimeout time.Duration
	// ClientTLSTimeout is how long a client may take for the handshake of TLS. Zero: 5 s.
	ClientTLSTimeout time.Duration
}

// leastTimeout is the shortest limit of a login or a handshake: with less, not even a client on this machine gets in.
const leastTimeout = time.Millisecond

// check refuses impossible limits. Errors name the flags.
func (l Limits) check() error {
	return errors.Join(
		atLeastZero("max-connections", l.MaxConnections, "no limit"),
		atLeastZero("max-logins", l.MaxLogins, "half of all that descriptors allow"),
		atLeastZero("max-logins-per-address", l.MaxLoginsPerAddress, "no limit of its own"),
		longEnough("login-timeout", l.LoginTimeout, "60s"),
		longEnough("client-tls-timeout", l.ClientTLSTimeout, "5s"),
	)
}

// atLeastZero refuses a negative number. zero says what 0 means.
func atLeastZero(flag string, number int, zero string) error {
	if number >= 0 {
		return nil
	}
	return fmt.Errorf("--%s is %d; expected 0 for %s, or more", flag, number, zero)
}

// longEnough refuses a time in which nobody can finish. Zero means the default.
func longEnough(flag string, timeout time.Duration, usual string) error {
	if timeout == 0 || timeout >= leastTimeout {
		return nil
	}
	return fmt.Errorf("--%s is %v; expected at least %v, such as %s, or 0 for the default of %s",
		flag, timeout, leastTimeout, usual, usual)
}

// limit formats a limit for the log.
func limit(most int) any {
	if most == 0 {
		return "none"
	}
	return most
}

// apply sets the limits of a proxy, and the one that follows from the process's descriptors. Connections that have not
// logged in get at most half of those, so that they cannot keep real clients out.
func (l Limits) apply(s *proxy.Settings, databases, hosts, descriptors int) {
	s.MaxSessions, s.MaxLogins, s.MaxLoginsPerAddress = l.MaxConnections, l.MaxLogins, l.MaxLoginsPerAddress
	s.LoginTimeout, s.HandshakeTimeout = l.LoginTimeout, l.ClientTLSTimeout
	if descriptors == 0 {
		return
	}
	reserve := ownDescriptors + databaseDescriptors*databases + hostDescriptors*hosts
	s.MaxClients = max((descriptors-reserve)/2, 1)
	if half := max(s.MaxClients/2, 1); s.MaxLogins == 0 || s.MaxLogins > half {
		s.MaxLogins = half
	}
}
