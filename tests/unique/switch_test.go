//go:build full

package unique

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/migrations"
	"pgflurry/tests/support/network"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// The row "blue/green" of docs/copies.md behind a balancer that keeps old connections where they are.
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

	m.run("namespace", "close", "--database", blue, "--wait")
	m.refused(function, "SNF04")
	m.refused(session, "SNF04")
	m.refused(ids, "57P03")
	m.copySchema(blue, green)
	m.run("namespace", "move", "--database", green, "--no-other-draws")
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
	m.run("namespace", "move", "--database", green, "--no-other-draws")
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
