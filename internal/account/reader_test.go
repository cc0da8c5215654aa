package account

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestAccountsThatAreAllGoneAreAWarning(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	a := &Reader{log: slog.New(slog.NewTextHandler(&lines, nil))}
	list := func(names ...string) *List {
		var all []Account
		for _, name := range names {
			all = append(all, Account{Name: name})
		}
		return NewList(all, nil, time.Now())
	}
	for _, c := range []struct {
		list *List
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
		a.use(c.list)
		if line := lines.String(); !strings.Contains(line, c.line) || (line == "") != (c.line == "") {
			t.Errorf("%v: the log has %q; expected %q", c.list, line, c.line)
		}
	}
}

func TestSessionsOfRemovedAccountsEndUnlessNoneIsLeft(t *testing.T) {
	t.Parallel()
	list := func(names ...string) *List {
		var all []Account
		for _, name := range names {
			all = append(all, Account{Name: name})
		}
		return NewList(all, nil, time.Now())
	}
	var ended []string
	a := &Reader{log: slog.New(slog.DiscardHandler), end: func(of func(string) bool) (n int) {
		for _, user := range []string{"ann", "bob", "trusted"} { // the last one was never listed
			if of(user) {
				ended = append(ended, user)
			}
		}
		return len(ended)
	}}
	a.use(list("ann", "bob"))
	a.use(list("ann", "eve"))
	a.use(list())
	if len(ended) != 1 || ended[0] != "bob" {
		t.Errorf("sessions of %q are ended; expected those of bob", ended)
	}
}

// A reading of the table may take seconds. If a reload names a file meanwhile, the file wins.
func TestWhatWasReadOfASourceThatIsNotAskedForAnyMoreIsNotTaken(t *testing.T) {
	t.Parallel()
	a := &Reader{log: slog.New(slog.DiscardHandler)}
	table := NewList([]Account{{Name: "ann"}}, nil, time.Now())
	file, named := NewFile("clients"), NewList([]Account{{Name: "bob"}}, nil, time.Now())
	if !a.store(nil, table) || a.list.Load() != table {
		t.Error("the table, which is asked for, is not taken")
	}
	a.goOn(file, named)
	if a.store(nil, table) || a.list.Load() != named {
		t.Errorf("%v is in use; expected that of the file, %v", a.list.Load(), named)
	}
	a.goOn(nil, nil)
	if a.store(file, table) || a.list.Load() != named {
		t.Errorf("%v is in use; expected %v until the table is read", a.list.Load(), named)
	}
}
