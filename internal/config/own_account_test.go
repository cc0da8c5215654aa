package config

import (
	"net"
	"strings"
	"testing"
)

func TestClientsByTCPInFrontOfASocketAreRefusedUnlessTheyAreProvenOrTrusted(t *testing.T) {
	handed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer handed.Close()
	tcp, socket := []Address{{"tcp", "127.0.0.1:5432"}}, []Address{{"unix", "/nowhere/.s.PGSQL.5432"}}
	for name, c := range map[string]struct {
		s       Settings
		refused bool
	}{
		"by TCP": {
			Settings{At: Address{"tcp", ":1"}, Hosts: socket},
			true,
		},
		"a socket is the last": {
			Settings{At: Address{"tcp", ":1"}, Hosts: append(tcp, socket...)},
			true,
		},
		"a listener by TCP": {
			Settings{At: Address{"unix", "/nowhere/own"}, Listener: handed, Hosts: socket},
			true,
		},
		"relayed logins": {
			Settings{At: Address{"tcp", ":1"}, Hosts: socket, TLS: TLS{Auth: AuthRelay}},
			true,
		},
		"passwords": {
			Settings{At: Address{"tcp", ":1"}, Hosts: socket, TLS: TLS{Auth: AuthPassword}},
			false,
		},
		"by a socket": {
			Settings{At: Address{"unix", "/nowhere/own"}, Hosts: socket},
			false,
		},
		"an upstream by TCP": {
			Settings{At: Address{"tcp", ":1"}, Hosts: tcp},
			false,
		},
		"trusted": {
			Settings{At: Address{"tcp", ":1"}, Hosts: socket, UnixUpstreamTrustsClients: true},
			false,
		},
	} {
		err := c.s.checkOwnAccount()
		if (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), socket[0].Address) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
