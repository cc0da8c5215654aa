package node

import (
	"testing"
	"time"

	"pgflurry/config"
)

// withIDs are settings with an ID database.
func withIDs(t *testing.T, change func(*config.Given)) config.Settings {
	t.Helper()
	g := config.Given{
		Settings: config.Settings{
			Name: "n", Window: time.Minute, IDDatabase: config.IDDatabase{Name: "pgflurry"},
		},
		Listen: "127.0.0.1:0", Upstream: "127.0.0.1:5432", LeaseDatabase: "postgres://u@127.0.0.1/app",
	}
	change(&g)
	s, err := g.Parse()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheRelayAndTheIDDatabaseDrawInOneRoom(t *testing.T) {
	t.Parallel()
	s := withIDs(t, func(g *config.Given) { g.IDDatabase.Auth = config.IDAuthTrust })
	n, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	defer n.listener.Close()
	relay := n.proxySettings(s)
	if ids := n.idSettings(n.id, s.IDDatabase); relay.IDs != ids.IDs || relay.IDs == nil {
		t.Errorf("the relay draws in %p, and the ID database in %p", relay.IDs, ids.IDs)
	}
}
