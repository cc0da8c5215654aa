package node

import (
	"os"
	"testing"
	"time"

	"pgflurry/internal/config"
	"pgflurry/tests/support/authority"
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

// A file is read when the settings are parsed, and by nobody a second time.
func TestAStartReadsEachFileOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := withIDs(t, func(g *config.Given) {
		g.IDDatabase.AuthFile = authority.Write(t, dir, "clients", []byte(`"ann" ""`))
		g.TLS.ClientCert, g.TLS.ClientKey = authority.New(t, "own").Issue(t, authority.Leaf{}).Write(t, dir, "own")
	})
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	n, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	defer n.listener.Close()
	if list := n.id.accounts.Last(); list == nil || list.Len() != 1 {
		t.Errorf("the accounts are %v", list)
	}
	if relay := n.proxySettings(s); relay.ClientTLS == nil {
		t.Error("clients get no TLS")
	}
}
