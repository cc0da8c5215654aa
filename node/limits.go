package node

import (
	"fmt"
	"time"

	"pgflurry/proxy"
)

const (
	// ownDescriptors is kept free for the proxy's own: lease, listener, logs, clock.
	ownDescriptors = 32
	// databaseDescriptors is kept free for each database: its look and its blocks of numbers, and one more of each
	// while it is replaced.
	databaseDescriptors = 4
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

// check refuses what cannot be meant, by the names of the flags.
func (l Limits) check() error {
	switch {
	case l.MaxConnections < 0:
		return fmt.Errorf("--max-connections is %d; expected 0 for no limit, or more", l.MaxConnections)
	case l.MaxLogins < 0:
		return fmt.Errorf("--max-logins is %d; expected 0 for half of all that descriptors allow, or more", l.MaxLogins)
	case l.MaxLoginsPerAddress < 0:
		return fmt.Errorf("--max-logins-per-address is %d; expected 0 for no limit of its own, or more",
			l.MaxLoginsPerAddress)
	case l.LoginTimeout < 0:
		return fmt.Errorf("--login-timeout is %v; expected 0 for the default of 60s, or more", l.LoginTimeout)
	case l.ClientTLSTimeout < 0:
		return fmt.Errorf("--client-tls-timeout is %v; expected 0 for the default of 5s, or more", l.ClientTLSTimeout)
	}
	return nil
}

// apply puts the limits into the settings of a proxy, and the one that follows from the descriptors a process may have.
// Strangers get half of those at most, so that they cannot keep clients out who would log in.
func (l Limits) apply(s *proxy.Settings, databases, descriptors int) {
	s.MaxSessions, s.MaxLogins, s.MaxLoginsPerAddress = l.MaxConnections, l.MaxLogins, l.MaxLoginsPerAddress
	s.LoginTimeout, s.HandshakeTimeout = l.LoginTimeout, l.ClientTLSTimeout
	if descriptors == 0 {
		return
	}
	reserve := ownDescriptors + databaseDescriptors*databases
	s.MaxClients = max((descriptors-reserve)/2, 1)
	if half := max(s.MaxClients/2, 1); s.MaxLogins == 0 || s.MaxLogins > half {
		s.MaxLogins = half
	}
}
