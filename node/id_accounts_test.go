package node

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"pgflurry/account"
)

func TestAccountsThatAreAllGoneAreAWarning(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	a := &accounts{log: slog.New(slog.NewTextHandler(&lines, nil))}
	list := func(names ...string) *account.List {
		var all []account.Account
		for _, name := range names {
			all = append(all, account.Account{Name: name})
		}
		return account.NewList(all, nil, time.Now())
	}
	for _, c := range []struct {
		list *account.List
		line string
	}{
		{list(), ""}, // whoever begins has none yet
		{list("ann", "bob"), "level=INFO"},
		{list("ann", "bob"), ""},
		{list("ann"), "level=INFO"},
		{list(), "level=WARN"},
		{list(), ""},
	} {
		lines.Reset()
		a.take(c.list)
		if line := lines.String(); !strings.Contains(line, c.line) || (line == "") != (c.line == "") {
			t.Errorf("%v: the log has %q; expected %q", c.list, line, c.line)
		}
	}
}

func TestAReloadTrustsNobodyWhereOtherMachinesReachTheListener(t *testing.T) {
	t.Parallel()
	n := &Node{listener: elsewhereListener{}, id: &idDatabase{accounts: &accounts{}}}
	trusting := withIDs(func(s *Settings) { s.Listen, s.IDDatabase.Auth = "localhost:6432", idAuthTrust })
	if _, err := n.prepareIDDatabase(trusting); err == nil || !strings.Contains(err.Error(), "10.0.0.7:6432") {
		t.Errorf("localhost that is another machine: %v; expected a refusal with its address", err)
	}
}
