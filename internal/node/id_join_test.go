package node

import (
	"net"
	"strings"
	"testing"

	"pgflurry/internal/account"
	"pgflurry/internal/config"
)

func TestAReloadTrustsNobodyWhereOtherMachinesReachTheListener(t *testing.T) {
	t.Parallel()
	n := &Node{listener: elsewhereListener{}, id: &idDatabase{accounts: &account.Reader{}}}
	trusting := withIDs(t, func(g *config.Given) { g.Listen, g.IDDatabase.Auth = "localhost:6432", config.IDAuthTrust })
	if _, err := n.prepareIDDatabase(trusting); err == nil || !strings.Contains(err.Error(), "10.0.0.7:6432") {
		t.Errorf("localhost that is another machine: %v; expected a refusal with its address", err)
	}
}

// elsewhereListener pretends that other machines can reach it.
type elsewhereListener struct{ net.Listener }

func (elsewhereListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 6432} }
