package switched

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/migrations"
	"pgflurry/tests/support/network"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// The row "blue/green" of docs/operations.md behind a balancer that keeps old connections where they are.
func TestABlueGreenSwitchBehindABalancerGivesNoIDTwice(t *testing.T) {
	t.Parallel()
	m := newMove(t)
	blueServer, greenServer := server.Private(t, nil), server.Private(t, nil)
	blue, green := m.home(blueServer, "app"), m.database(greenServer, "app")
	balancer, through := network.Behind(t, blue)
	first := m.proxy(through, "first")
	session, ids := server.Connect(t, first.URL), m.idDatabase(first)
	function := server.Connect(t, blue)
	m.byProxy(session)
	m.fromAll(session, ids, function)

	m.run("close", "--database", blue, "--wait")
	m.refused(function, "SNF04")
	m.refused(session, "SNF04")
	m.refused(ids, "57P03")
	m.copySchema(blue, green)
	m.run("migrate", "up", "--database", green, "--moved", "--no-other-draws")
	balancer.Lead(server.Parse(t, green).Host)

	second := m.proxy(green, "second")
	ids = m.again(func() (*pgx.Conn, error) { return pgx.Connect(server.Within(t), m.idURL(first)) })
	function = server.Connect(t, green)
	session = m.anew(first.URL)
	m.byProxy(session) // when all looks have agreed
	m.byProxy(server.Connect(t, second.URL))
	m.fromAll(session, ids, function, server.Connect(t, second.URL), m.idDatabase(second))
	m.refused(server.Connect(t, blue), "SNF04")
}

// Without closing, old belief must end by itself, and before another proxy gets the same worker: in a quarantine.
func TestASwitchThatNobodyAnnouncedIsSeenBeforeTheOtherServerGrantsAWorker(t *testing.T) {
	t.Parallel()
	m := newMove(t)
	blueServer, greenServer := server.Private(t, nil), server.Private(t, nil)
	blue, green := m.database(blueServer, "app"), m.database(greenServer, "app")
	m.up(blue, migrations.Settings{})
	server.Exec(t, blue,
		"UPDATE pgflurry.namespace SET max_window = '10 s', skew = '1 s', quarantine = '45 s'")
	balancer, through := network.Behind(t, blue)
	first := m.proxy(through, "first", "--window", "10s")
	session, ids := server.Connect(t, first.URL), m.idDatabase(first)
	m.fromAll(session, ids)
	// Applications take green for the primary, and write nothing to blue any more. But blue is not told.
	session.Close(server.Within(t))
	m.copySchema(blue, green)
	m.run("migrate", "up", "--database", green, "--moved", "--no-other-draws")
	at := first.Printed()
	balancer.Lead(server.Parse(t, green).Host)
	first.LineFrom(at, "another database answers at this address")
	m.last(ids) // green's rows are older than its lease, and it may finish its grant
	m.fromAll(m.anew(first.URL), server.Connect(t, green))
	second := m.proxy(green, "second", "--window", "10s")
	m.byProxy(server.Connect(t, second.URL))
	// Where the lease was lost to another place, the next one comes when a worker has rested.
	ids = m.again(func() (*pgx.Conn, error) { return pgx.Connect(server.Within(t), m.idURL(first)) })
	m.fromAll(server.Connect(t, first.URL), ids, server.Connect(t, green), server.Connect(t, second.URL))
}

// A pooler in session mode keeps a session's connection where it is, whatever becomes of its alias.
func TestAPoolersAliasThatMovesToAnotherNamespaceIsNotAnsweredThere(t *testing.T) {
	t.Parallel()
	m := newMove(t)
	cluster := server.Private(t, nil)
	here, there := m.home(cluster, "here"), m.home(cluster, "there")
	pooler, through := server.PoolerOf(t, "app", here)
	at := server.Parse(t, through)
	proxy := program.Serve(t, here, "one", "--window", "2s", "--upstream", at.Host, "--databases", "app")
	clients := server.Parse(t, proxy.URL)
	clients.Path = "/app"
	before := server.Connect(t, clients.String())
	m.byProxy(before)

	printed := proxy.Printed()
	pooler.Lead(there)
	proxy.LineFrom(printed, "belongs to namespace")
	// From here on IDs of the other space are compared, alone: two ID spaces may have one ID.
	other := newMove(t)
	second := other.proxy(there, "two")
	direct := server.Connect(t, second.URL)
	other.byProxy(direct)
	other.fromAll(server.Connect(t, clients.String()), server.Connect(t, there), direct, other.idDatabase(second))
	m.draw(server.Connect(t, here))
}

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
	server.Exec(t, b.URL("postgres"), "SELECT pg_promote()")
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
