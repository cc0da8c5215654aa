package unique

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// The first line of many restore scripts, or a setting of the role. The guards once dropped such a write in silence.
func TestACommandInASessionThatReplicatesChangesTheRowsOrFails(t *testing.T) {
	t.Parallel()
	m := newMove(t)
	cluster := server.Private(t, nil)
	home := m.home(cluster, "app")
	m.fromAll(server.Connect(t, home))
	server.Exec(t, home, "CREATE ROLE restorer SUPERUSER LOGIN; "+
		"ALTER ROLE restorer SET session_replication_role = replica")
	as := func(at string) string { return server.As(t, at, "restorer", "") }

	first := server.TemplateCopy(t, home, "first")
	server.Refused(t, server.Connect(t, as(first)), "55000", "CALL pgflurry.new_namespace()")
	m.refused(server.Connect(t, first), "SNF03")
	m.run("namespace", "separate", "--database", as(first))

	second := server.TemplateCopy(t, home, "second")
	m.run("namespace", "join", "--database", as(second), "--copy", "--home", as(home))
	m.run("workers", "reseed", "--yes", "--database", as(home))
	m.run("namespace", "set", "--database", as(home), "--joins-complete")
	before := m.worker(home)
	m.run("namespace", "set", "--database", as(home), "--fresh-worker")
	if m.worker(home) == before {
		t.Errorf("the function still has worker %d", before)
	}
	proxy := m.proxy(home, "one")
	m.fromAll(server.Connect(t, home), server.Connect(t, second), server.Connect(t, proxy.URL), m.idDatabase(proxy))
	other := newMove(t)
	other.fromAll(server.Connect(t, first), server.Connect(t, other.proxy(first, "two").URL))
}

// worker is that of a database's function.
func (m *move) worker(at string) int {
	m.Helper()
	return server.Value[int](m, server.Connect(m, at), "SELECT function_worker FROM pgflurry.namespace")
}

// A restore with --disable-triggers ends with ENABLE TRIGGER ALL, which takes ENABLE ALWAYS from the guards.
func TestARestoreThatEnablesTriggersLeavesNoGuardOff(t *testing.T) {
	t.Parallel()
	m := newMove(t)
	from, to := server.Private(t, map[string]string{"wal_level": "logical"}), server.Private(t, nil)
	other, home := m.home(from, "other"), m.home(to, "app")
	m.fromAll(server.Connect(t, home))
	file := filepath.Join(t.TempDir(), "data")
	m.tool("pg_dump", "--data-only", "--disable-triggers", "--schema=pgflurry", "--file", file, home)
	m.tool("psql", "-Xqc", "SET client_min_messages = fatal", "-f", file, home)
	const always = "SELECT count(*) FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid " +
		"WHERE c.relnamespace = 'pgflurry'::regnamespace AND t.tgname LIKE 'guard%' AND t.tgenabled <> 'A'"
	conn := server.Connect(t, home)
	if server.Value[int](t, conn, always) == 0 {
		t.Fatal("the restore has left the guards as they were, so this proves nothing")
	}
	if out, err := m.try("migrate", "status", "--database", home); err == nil || !strings.Contains(out, "guard") {
		t.Errorf("migrate status does not say that guards are off: %v\n%s", err, out)
	}
	proxy := m.proxy(home, "one")
	proxy.Line("guard")
	m.run("migrate", "up", "--database", home)
	if n := server.Value[int](t, conn, always); n != 0 {
		t.Errorf("%d guards are not ENABLE ALWAYS after migrate up", n)
	}

	// A subscription brings the worker rows of another database.
	session := server.Connect(t, proxy.URL)
	m.byProxy(session)
	held := m.holder(home)
	server.Exec(t, other, "CREATE PUBLICATION rows FOR TABLE pgflurry.worker")
	at := server.Parse(t, other)
	server.Exec(t, home, fmt.Sprintf("CREATE SUBSCRIPTION rows CONNECTION "+
		"'host=%s port=%s dbname=other user=postgres' PUBLICATION rows WITH (copy_data = false)",
		at.Hostname(), at.Port()))
	server.Exec(t, other, "UPDATE pgflurry.worker SET owner = gen_random_uuid(), term = 1000, node = 'stranger', "+
		"reserved_until = 1 WHERE kind = 'proxy'; CREATE TABLE seen (); ")
	there := server.Connect(t, other)
	server.Eventually(t, there, "(SELECT bool_and(r.replay_lsn >= pg_current_wal_lsn()) FROM pg_stat_replication AS r)")
	if now := m.holder(home); now != held {
		t.Errorf("the row of the worker is of %q now, and was of %q", now, held)
	}
	second := m.proxy(home, "two")
	m.fromAll(session, m.idDatabase(proxy), conn, server.Connect(t, second.URL), m.idDatabase(second))
	server.Exec(t, home, "ALTER SUBSCRIPTION rows DISABLE; ALTER SUBSCRIPTION rows SET (slot_name = NONE); "+
		"DROP SUBSCRIPTION rows")
}

// holder is who has the worker of node "one", with term and owner.
func (m *move) holder(at string) string {
	m.Helper()
	return server.Value[string](m, server.Connect(m, at),
		"SELECT string_agg(format('%s %s %s', worker, owner, term), ' ') FROM pgflurry.worker WHERE node = 'one'")
}

// A restore in place goes back in time while proxies keep what they hold.
func TestARestoreInPlaceWithProxiesRunningGivesNoIDTwice(t *testing.T) {
	t.Parallel()
	m := newMove(t)
	cluster := server.Private(t, nil)
	home := m.home(cluster, "app")
	file := filepath.Join(t.TempDir(), "dump")
	m.tool("pg_dump", "--format=custom", "--file", file, home)
	first := m.proxy(home, "first")
	m.fromAll(server.Connect(t, first.URL), m.idDatabase(first), server.Connect(t, home))
	printed := first.Printed()
	m.tool("pg_restore", "--clean", "--if-exists", "--dbname", home, file)
	m.run("namespace", "move", "--database", home)
	first.LineFrom(printed, "another database answers at this address")
	first.LineFrom(printed, "worker acquired") // its old one is lost: the row does not know it
	second := m.proxy(home, "second")
	m.fromAll(m.anew(first.URL), m.idDatabase(first), server.Connect(t, second.URL), m.idDatabase(second),
		server.Connect(t, home))
}

// Two databases of an ID space that change places draw with their own workers.
func TestDatabasesOfOneSpaceThatSwapNamesGiveNoIDTwice(t *testing.T) {
	t.Parallel()
	m := newMove(t)
	cluster := server.Private(t, nil)
	home, one, two := m.home(cluster, "home"), m.database(cluster, "one"), m.database(cluster, "two")
	m.up(one, migrations.Settings{JoinURL: home})
	m.up(two, migrations.Settings{JoinURL: home})
	proxy := m.proxy(home, "node", "--databases", "one,two")
	through := func(name string) string { return server.In(t, proxy.URL, name) }
	m.fromAll(server.Connect(t, through("one")), server.Connect(t, through("two")), m.idDatabase(proxy),
		server.Connect(t, one), server.Connect(t, two))
	printed := proxy.Printed()
	admin := server.Connect(t, cluster.URL("postgres"))
	server.Do(t, admin, "ALTER DATABASE one ALLOW_CONNECTIONS false")
	server.Do(t, admin, "ALTER DATABASE two ALLOW_CONNECTIONS false")
	server.Do(t, admin, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname IN ('one', 'two')")
	server.Do(t, admin, "ALTER DATABASE one RENAME TO aside")
	server.Do(t, admin, "ALTER DATABASE two RENAME TO one")
	server.Do(t, admin, "ALTER DATABASE aside RENAME TO two")
	server.Do(t, admin, "ALTER DATABASE one ALLOW_CONNECTIONS true")
	server.Do(t, admin, "ALTER DATABASE two ALLOW_CONNECTIONS true")
	proxy.LineFrom(printed, "another database answers at this address")
	m.fromAll(m.anew(through("one")), m.anew(through("two")), m.idDatabase(proxy), server.Connect(t, one),
		server.Connect(t, two), server.Connect(t, home))
}
