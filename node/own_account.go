package node

import (
	"fmt"
	"slices"

	"pgflurry/hint"
	"pgflurry/proxy"
)

// checkOwnAccount refuses clients by TCP in front of a Unix socket. PostgreSQL's method peer would take each of them
// for the account that the proxy runs as. A Unix socket of the proxy needs no refusal here: it shows whose client it is
// (package proxy).
func (s *Settings) checkOwnAccount() error {
	hosts, err := parseUpstream(s.Upstream)
	i := slices.IndexFunc(hosts, isSocket)
	if err != nil || i < 0 || s.UnixUpstreamTrustsClients || s.TLS.Auth == authPassword {
		return nil // another check reports the error
	}
	network, place, err := ParseAddress("listen", s.Listen)
	if s.Listener != nil {
		network, place, err = s.Listener.Addr().Network(), s.Listener.Addr().String(), nil
	}
	if err != nil || network == "unix" {
		return nil
	}
	return byTCP(place, hosts[i])
}

func byTCP(listen string, upstream proxy.Host) error {
	return hint.With(fmt.Errorf("--listen %s takes clients by TCP, and --upstream %s is a Unix socket: "+
		"with the method peer PostgreSQL would take each of them for the account that the proxy runs as",
		listen, upstream.Address),
		"Name the server's TCP address, listen on a Unix socket, or give --client-auth password. "+
			"If pg_hba.conf asks every local connection for a password, --unix-upstream-trusts-clients is safe.")
}
