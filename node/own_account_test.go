package node

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
	const socket = "/nowhere/.s.PGSQL.5432"
	for name, c := range map[string]struct {
		s       Settings
		refused bool
	}{
		"by TCP":               {Settings{Listen: ":1", Upstream: socket}, true},
		"a socket is the last": {Settings{Listen: ":1", Upstream: "127.0.0.1:5432," + socket}, true},
		"a listener by TCP":    {Settings{Listen: "/nowhere/own", Listener: handed, Upstream: socket}, true},
		"relayed logins":       {Settings{Listen: ":1", Upstream: socket, TLS: TLS{Auth: authRelay}}, true},
		"passwords":            {Settings{Listen: ":1", Upstream: socket, TLS: TLS{Auth: authPassword}}, false},
		"by a socket":          {Settings{Listen: "/nowhere/own", Upstream: socket}, false},
		"an upstream by TCP":   {Settings{Listen: ":1", Upstream: "127.0.0.1:5432"}, false},
		"trusted":              {Settings{Listen: ":1", Upstream: socket, UnixUpstreamTrustsClients: true}, false},
	} {
		err := c.s.checkOwnAccount()
		if (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), socket) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
