package config

import (
	"fmt"
	"slices"

	"pgflurry/internal/fault"
)

// checkOwnAccount refuses clients by TCP in front of a Unix socket. PostgreSQL's method peer would take each of them
// for the account that the proxy runs as. A Unix socket of the proxy needs no refusal here: it shows whose client it is
// (package proxy).
func (s *Settings) checkOwnAccount() error {
	i := slices.IndexFunc(s.Hosts, func(a Address) bool { return a.Network == "unix" })
	if i < 0 || s.UnixUpstreamTrustsClients || s.TLS.Auth == AuthPassword {
		return nil
	}
	at := s.At
	if s.Listener != nil {
		at = Address{s.Listener.Addr().Network(), s.Listener.Addr().String()}
	}
	if at.Network != "tcp" {
		return nil // if it has no address at all, another check reports that
	}
	return of([]string{"listen", "upstream"}, fault.WithHint(
		fmt.Errorf("--listen %s takes clients by TCP, and --upstream %s is a Unix socket: "+
			"with the method peer PostgreSQL would take each of them for the account that the proxy runs as",
			at.Address, s.Hosts[i].Address),
		"Name the server's TCP address, listen on a Unix socket, or give --client-auth password. "+
			"If pg_hba.conf asks every local connection for a password, --unix-upstream-trusts-clients is safe."))
}
