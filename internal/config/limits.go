package config

import (
	"errors"
	"time"
)

// Limits bound the clients of a node.
type Limits struct {
	// MaxConnections is how many sessions may be open at once, each a connection to PostgreSQL. Zero: no limit.
	MaxConnections int
	// MaxLogins is how many connections may be open at once that have not said what they want. As many may wait for
	// one of MaxUpstreamLogins. Zero: half of all that descriptors allow.
	MaxLogins int
	// MaxLoginsPerAddress is the same for each address of clients. Zero: no limit of its own.
	MaxLoginsPerAddress int
	// MaxUpstreamLogins is how many clients may be logging in at PostgreSQL at once.
	// Zero: an eighth of all that descriptors allow.
	MaxUpstreamLogins int
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
		atLeastZero("max-upstream-logins", l.MaxUpstreamLogins, "an eighth of all that descriptors allow"),
		longEnough("login-timeout", l.LoginTimeout, "60s"),
		longEnough("client-tls-timeout", l.ClientTLSTimeout, "5s"),
	)
}

// atLeastZero refuses a negative number. zero says what 0 means.
func atLeastZero(flag string, number int, zero string) error {
	if number >= 0 {
		return nil
	}
	return wrong(flag, "--%s is %d; expected 0 for %s, or more", flag, number, zero)
}

// longEnough refuses a time in which nobody can finish. Zero means the default.
func longEnough(flag string, timeout time.Duration, usual string) error {
	if timeout == 0 || timeout >= leastTimeout {
		return nil
	}
	return wrong(flag, "--%s is %v; expected at least %v, such as %s, or 0 for the default of %s",
		flag, timeout, leastTimeout, usual, usual)
}
