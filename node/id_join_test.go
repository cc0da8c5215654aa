package node

import (
	"strings"
	"testing"

	"pgflurry/account"
)

func TestAReloadTrustsNobodyWhereOtherMachinesReachTheListener(t *testing.T) {
	t.Parallel()
	n := &Node{listener: elsewhereListener{}, id: &idDatabase{accounts: &account.Reader{}}}
	trusting := withIDs(func(s *Settings) { s.Listen, s.IDDatabase.Auth = "localhost:6432", idAuthTrust })
	if _, err := n.prepareIDDatabase(trusting); err == nil || !strings.Contains(err.Error(), "10.0.0.7:6432") {
		t.Errorf("localhost that is another machine: %v; expected a refusal with its address", err)
	}
}
