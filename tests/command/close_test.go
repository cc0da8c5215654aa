package command

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestCloseEndsAllIDsAndWaitsForTheGrantsOfProxies(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	held(t, conn)
	closed := run(t, "namespace", "close", "--database", url)
	closed.is(t, 0)
	generation := func() string {
		return server.Value[string](t, conn, "SELECT generation::text FROM pgflurry.namespace")
	}
	for _, text := range []string{
		"is closed since ", "at generation " + generation() + ":", "not closed: sequences of PostgreSQL itself",
		"grants of proxies may be in use until ", "(leases: 1)", "next: pgflurry namespace close --database",
	} {
		if !strings.Contains(closed.out, text) {
			t.Errorf("close does not say %q:\n%s", text, closed.out)
		}
	}
	server.Refused(t, conn, "SNF04", "SELECT next_snowflake()")
	status := run(t, "migrate", "status", "--database", url)
	if said := closed.out + status.errs; strings.Count(said, "--database 'postgres:") != 2 ||
		strings.Contains(said, "--database URL") {
		t.Errorf("the commands to come are not those of this database:\n%s", said)
	}

	p := program.Start(t, "namespace", "close", "--wait", "--database", url)
	p.Line("closed; waiting ", "(leases: 1)")
	server.StepClock(t, conn, time.Hour)
	if code := p.End(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	p.Line("no grant of a proxy can be in use")
	p.Line("next: make the dump", "pgflurry namespace move --database URL")
	again := run(t, "namespace", "close", "--database", url, "--json")
	for _, text := range []string{
		`"closed": true`, `"generation": ` + generation(), `"leases": 0`, `"left_seconds": 0`,
	} {
		if again.is(t, 0); !strings.Contains(again.out, text) {
			t.Errorf("close --json does not say %s:\n%s", text, again.out)
		}
	}
}

func TestASignalEndsTheWaitOfCloseAndTheDatabaseStaysClosed(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	held(t, conn)
	p := program.Start(t, "namespace", "close", "--wait", "--database", url)
	p.Line("closed; waiting ")
	p.Signal(syscall.SIGINT)
	if code := p.End(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	server.Refused(t, conn, "SNF04", "SELECT next_snowflake()")
}

// A gate that is closed says that the rows may lack grants. So does a server that has just started.
func TestCloseWaitsForGrantsThatTheRowsMayHaveForgotten(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, "UPDATE pgflurry.namespace SET acquire_after = pgflurry.ticks(clock_timestamp() + '1 min')")
	for range 2 {
		closed := run(t, "namespace", "close", "--database", url)
		if closed.is(t, 0); !strings.Contains(closed.out, "restart may have forgotten them") {
			t.Errorf("close says\n%s", closed.out)
		}
		server.Do(t, conn,
			"UPDATE pgflurry.namespace SET acquire_after = 0, restart_quarantine = '1 d', born = NULL")
	}
	server.Do(t, conn, "UPDATE pgflurry.namespace SET timeline = 'FFFFFFFF', restart_quarantine = '0'")
	if closed := run(t, "namespace", "close", "--database", url); !strings.Contains(closed.out, "restart may have "+
		"forgotten them") {
		t.Errorf("after a failover that nobody has noticed close says\n%s", closed.out)
	}
}

func TestCloseNamesWhoHoldsTheTablesAndChangesNothing(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	writer, conn := server.Connect(t, url), server.Connect(t, url)
	server.Do(t, writer, "BEGIN; UPDATE pgflurry.worker SET reserved_until = reserved_until WHERE worker = 900")
	run(t, "namespace", "close", "--database", url, "--lock-timeout", "50ms").is(t, 1, "was not closed: its tables "+
		"were not free "+
		"within 50ms", fmt.Sprintf("held by PID %d", writer.PgConn().PID()), "pg_terminate_backend")
	server.Do(t, conn, "SELECT next_snowflake()")
	run(t, "namespace", "close", "--database", url, "--lock-timeout", "0s").is(t, 2, "expected 1ms or more")
}

func TestCloseCountsOnlyWithACleanAcknowledgement(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	url := cluster.URL("postgres")
	run(t, "migrate", "up", "--database", url).is(t, 0)
	conn := server.Connect(t, url)
	server.Do(t, conn, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
	server.Do(t, conn, "SELECT pg_reload_conf()")
	server.Eventually(t, conn, "current_setting('synchronous_standby_names') = 'nobody'")
	p := program.Start(t, "namespace", "close", "--database", url)
	server.Eventually(t, conn, "EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep')")
	server.Do(t, conn, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
	if code := p.End(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	p.Line("the outcome is unknown, the server warned: WARNING: canceling wait for synchronous replication")
}

func TestAStandbyACopyAndAMissingSchemaAreNotClosed(t *testing.T) {
	t.Parallel()
	server.Binaries(t)
	primary := server.Private(t, nil)
	run(t, "migrate", "up", "--database", primary.URL("postgres")).is(t, 0)
	standby := server.Standby(t, primary, "standby", "", nil).URL("postgres")
	run(t, "namespace", "close", "--database", standby).is(t, 1, "is a standby: it takes no writes", "Give the URL "+
		"of the primary")
	migrated, empty := server.Migrated(t), server.Database(t)
	copied := server.TemplateCopy(t, migrated, server.Name(t, empty)+"_copy")
	run(t, "namespace", "close", "--database", copied).is(t, 1, "cannot be closed", "is a copy")
	run(t, "namespace", "close", "--database", empty).is(t, 3, "has no pgflurry namespace")
	role := server.As(t, migrated, "nobody_closes", "")
	server.Role(t, migrated, "nobody_closes")
	server.Exec(t, migrated, "CALL pgflurry.grant_lease('nobody_closes')")
	run(t, "namespace", "close", "--database", role).is(t, 1, "permission denied", "Run it as the owner of schema "+
		"pgflurry")
}

func TestADatabaseThatHasJoinedIsClosedWithoutItsHome(t *testing.T) {
	t.Parallel()
	home, joined := server.Migrated(t), server.Database(t)
	run(t, "namespace", "join", "--database", joined, "--home", home).is(t, 0)
	held(t, server.Connect(t, home))
	closed := run(t, "namespace", "close", "--wait", "--database", joined)
	closed.is(t, 0)
	for _, text := range []string{"no proxy leases a worker here", "which is not closed", "namespace move " +
		"--database URL --home HOME"} {
		if !strings.Contains(closed.out, text) {
			t.Errorf("close does not say %q:\n%s", text, closed.out)
		}
	}
	server.Refused(t, server.Connect(t, joined), "SNF04", "SELECT next_snowflake()")
	server.Exec(t, home, "SELECT next_snowflake()")

	run(t, "namespace", "close", "--database", home).is(t, 0)
	run(t, "namespace", "join", "--database", server.Database(t), "--home", home).
		is(t, 3, "was closed for good, and records no join any more", "database that has taken its place")
}

func TestAClosedDatabaseTakesItsOwnPlaceOnlyWithTheWordThatNoOtherDrawsAndClosesTheGate(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	last := server.Value[int64](t, conn, "SELECT next_snowflake()")
	run(t, "namespace", "close", "--database", url).is(t, 0)
	move := []string{"namespace", "move", "--database", url}
	run(t, move...).is(t, 3, "is closed, and nothing here shows", "--no-other-draws")
	server.Refused(t, conn, "SNF04", "SELECT next_snowflake()")
	run(t, append(move, "--no-other-draws")...).is(t, 0)
	if first := server.Value[int64](t, conn, "SELECT next_snowflake()"); first <= last {
		t.Errorf("ID %d follows %d", first, last)
	}
	if !server.Value[bool](t, conn,
		"SELECT acquire_after > pgflurry.ticks(clock_timestamp()) FROM pgflurry.namespace") {
		t.Error("the gate is open")
	}
}
