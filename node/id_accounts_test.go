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
		{list(), "nobody can log in to it"},
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

func TestSessionsOfRemovedAccountsEndUnlessNoneIsLeft(t *testing.T) {
	t.Parallel()
	list := func(names ...string) *account.List {
		var all []account.Account
		for _, name := range names {
			all = append(all, account.Account{Name: name})
		}
		return account.NewList(all, nil, time.Now())
	}
	var ended []string
	a := &accounts{log: slog.New(slog.DiscardHandler), end: func(of func(string) bool) (n int) {
		for _, user := range []string{"ann", "bob", "trusted"} { // the last one was never listed
			if of(user) {
				ended = append(ended, user)
			}
		}
		return len(ended)
	}}
	a.take(list("ann", "bob"))
	a.take(list("ann", "eve"))
	a.take(list())
	if len(ended) != 1 || ended[0] != "bob" {
		t.Errorf("sessions of %q are ended; expected those of bob", ended)
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

// A reading of the table may take seconds. If a reload names a file meanwhile, the file wins.
func TestWhatWasReadOfASourceThatIsNotAskedForAnyMoreIsNotTaken(t *testing.T) {
	t.Parallel()
	a := &accounts{log: slog.New(slog.DiscardHandler)}
	table := account.NewList([]account.Account{{Name: "ann"}}, nil, time.Now())
	file, named := account.NewFile("clients"), account.NewList([]account.Account{{Name: "bob"}}, nil, time.Now())
	if !a.takeFrom(nil, table) || a.list.Load() != table {
		t.Error("the table, which is asked for, is not taken")
	}
	a.goOn(file, named)
	if a.takeFrom(nil, table) || a.list.Load() != named {
		t.Errorf("%v is in use; expected that of the file, %v", a.list.Load(), named)
	}
	a.goOn(nil, nil)
	if a.takeFrom(file, table) || a.list.Load() != named {
		t.Errorf("%v is in use; expected %v until the table is read", a.list.Load(), named)
	}
}
