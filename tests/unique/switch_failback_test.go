package unique

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/network"
	"pgflurry/tests/support/server"
)

// An asynchronous failover, and back to the old primary as it was. Its timeline and its row agree.
func TestAFailbackToAPrimaryThatWasNeverRewoundGivesNoIDTwice(t *testing.T) {
	t.Parallel()
	m := newMove(t)
	a := server.Private(t, nil)
	home := m.home(a, "app")
	at := server.Parse(t, home)
	b := server.Standby(t, a, "b", fmt.Sprintf("host=%s port=%s", at.Hostname(), at.Port()), nil)
	balancer, through := network.Behind(t, home)
	first := m.proxy(through, "first")
	m.fromAll(server.Connect(t, first.URL), m.idDatabase(first), server.Connect(t, home))

	server.Crash(t, a)
	server.Promote(t, b)
	there := server.In(t, b.URL("postgres"), "app")
	balancer.Lead(server.Parse(t, there).Host)
	second := m.proxy(there, "second") // after the gate
	m.up(there, migrations.Settings{JoinsComplete: true})
	known := m.database(server.Private(t, nil), "known")
	m.up(known, migrations.Settings{JoinURL: there})
	m.fromAll(m.anew(first.URL), m.idDatabase(first), server.Connect(t, second.URL), server.Connect(t, there),
		server.Connect(t, known))

	server.Crash(t, b)
	m.last(m.idDatabase(second), m.idDatabase(first))
	a = server.Again(t, a.Data, 0)
	home = server.In(t, a.URL("postgres"), "app")
	printed := first.Printed()
	balancer.Lead(server.Parse(t, home).Host)
	first.LineFrom(printed, "the database has lost a commit it had acknowledged")
	third := m.proxy(home, "third") // after the gate, and after what a start may have forgotten
	fourth := m.proxy(home, "fourth")
	next := m.database(server.Private(t, nil), "next")
	err := migrations.Up(server.Within(t), next, migrations.Settings{JoinURL: home})
	server.Says(t, err, "may have forgotten a database that joined", "--joins-complete")
	m.up(known, migrations.Settings{JoinURL: home})
	m.up(home, migrations.Settings{JoinsComplete: true})
	m.up(next, migrations.Settings{JoinURL: home})
	m.fromAll(m.anew(first.URL), m.idDatabase(first), server.Connect(t, third.URL), server.Connect(t, fourth.URL),
		server.Connect(t, home), server.Connect(t, known), server.Connect(t, next))
}

// A standby that becomes primary without a promotion begins no timeline of its own.
func TestAStandbyWhoseSignalFileWasRemovedGivesNoIDTwice(t *testing.T) {
	t.Parallel()
	m := newMove(t)
	a := server.Private(t, nil)
	home := m.home(a, "app")
	b := server.Standby(t, a, "b", "", nil) // receives nothing from now on
	balancer, through := network.Behind(t, home)
	first, second := m.proxy(through, "first"), m.proxy(home, "second")
	m.fromAll(server.Connect(t, first.URL), m.idDatabase(first), server.Connect(t, second.URL), server.Connect(t, home))

	server.Stop(t, b)
	if err := os.Remove(filepath.Join(b.Data, "standby.signal")); err != nil {
		t.Fatal(err)
	}
	server.Crash(t, a)
	m.last(m.idDatabase(first), m.idDatabase(second))
	b = server.Again(t, b.Data, 0)
	home = server.In(t, b.URL("postgres"), "app")
	if server.Value[string](t, server.Connect(t, home), "SELECT pgflurry.wal_timeline()") != "00000001" {
		t.Fatal("the standby has a timeline of its own, so this proves nothing")
	}
	printed := first.Printed()
	balancer.Lead(server.Parse(t, home).Host)
	third, fourth := m.proxy(home, "third"), m.proxy(home, "fourth")
	first.LineFrom(printed, "the database has lost a commit it had acknowledged")
	m.fromAll(m.anew(first.URL), m.idDatabase(first), server.Connect(t, third.URL), server.Connect(t, fourth.URL),
		server.Connect(t, home))
}
