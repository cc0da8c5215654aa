package main

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"pgflurry/proxy"
)

const (
	// ownDescriptors is kept free for the proxy's own: lease, listener, logs, clock.
	ownDescriptors = 32
	// databaseDescriptors is kept free for each database: its look and its blocks of numbers, and one more of each while it is replaced.
	databaseDescriptors = 4
)

// limitSettings is what bounds the clients of one proxy process.
type limitSettings struct {
	maxConnections      int           // 0: no limit
	maxLogins           int           // 0: no limit
	maxLoginsPerAddress int           // 0: no limit
	loginTimeout        time.Duration // 0: the proxy's default
	clientTLSTimeout    time.Duration // 0: the proxy's default
}

func (l *limitSettings) flags(f *pflag.FlagSet) {
	f.IntVar(&l.maxConnections, "max-connections", 0, "sessions that may be open at once, each a connection to PostgreSQL (default no limit; PostgreSQL has its own). If all places are taken, a client that has not logged in gives way to another one. Not counted: requests to cancel a statement, at most 32 at once")
	f.IntVar(&l.maxLogins, "max-logins", 512, "connections that may be open at once and have not logged in; 0 for half of all that descriptors allow. If all places are taken, the address with most of them gives way, or whoever has had 5 s")
	f.IntVar(&l.maxLoginsPerAddress, "max-logins-per-address", 256, "the same for each address of clients (of IPv6, 64 bits); 0 for no limit of its own. Behind a load balancer all clients have one address: set it as high as --max-logins there")
	f.DurationVar(&l.loginTimeout, "login-timeout", 60*time.Second, "how long a client may take from connecting to the end of its login, when PostgreSQL is ready for its first query")
	f.DurationVar(&l.clientTLSTimeout, "client-tls-timeout", 5*time.Second, "how long a client may take for the handshake of TLS")
}

func (l *limitSettings) check() error {
	for _, limit := range []struct {
		flag  string
		value int
	}{{"max-connections", l.maxConnections}, {"max-logins", l.maxLogins}, {"max-logins-per-address", l.maxLoginsPerAddress}} {
		if limit.value < 0 {
			return fmt.Errorf("--%s is %d; expected 0 for no limit, or more", limit.flag, limit.value)
		}
	}
	if l.loginTimeout < 0 {
		return fmt.Errorf("--login-timeout is %v; expected more than 0", l.loginTimeout)
	}
	if l.clientTLSTimeout < 0 {
		return fmt.Errorf("--client-tls-timeout is %v; expected more than 0", l.clientTLSTimeout)
	}
	return nil
}

// complete puts the limits into the settings of a proxy, and the one that follows from the descriptors a process may have. Strangers get
// half of those at most, so that they cannot keep clients out who would log in.
func (l *limitSettings) complete(s *proxy.Settings, databases, descriptors int) {
	s.MaxSessions, s.MaxLogins, s.MaxLoginsPerAddress = l.maxConnections, l.maxLogins, l.maxLoginsPerAddress
	s.LoginTimeout, s.HandshakeTimeout = l.loginTimeout, l.clientTLSTimeout
	if descriptors == 0 {
		return
	}
	reserve := ownDescriptors + databaseDescriptors*databases
	s.MaxClients = max((descriptors-reserve)/2, 1)
	if half := max(s.MaxClients/2, 1); s.MaxLogins == 0 || s.MaxLogins > half {
		s.MaxLogins = half
	}
}
