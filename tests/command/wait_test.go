package command

import (
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// held makes a node hold worker 700 for a minute.
func held(t testing.TB, conn *pgx.Conn) {
	t.Helper()
	server.Do(t, conn, "UPDATE pgflurry.worker SET term = 1, owner = gen_random_uuid(), node = 'paris', "+
		"reserved_until = pgflurry.ticks(clock_timestamp()) + 60000 WHERE worker = 700")
}

func TestDownWaitsUntilNoIDCanBeAheadOfTheClock(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	held(t, conn)
	run(t, "migrate", "down", "--database", url).is(t, 1, "try again in ", "--wait waits for it")
	p := program.Start(t, "migrate", "down", "--wait", "--database", url)
	p.Line("Stop all proxies of the namespace")
	p.Line("waiting for worker 700 (paris): ")
	server.StepClock(t, conn, time.Hour)
	if code := p.End(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	p.Line("pgflurry is removed from this database")
	if server.Value[bool](t, conn, "SELECT to_regnamespace('pgflurry') IS NOT NULL") {
		t.Error("the schema is still there")
	}
}

func TestASignalEndsTheWaitOfDownWithNothingRemoved(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	held(t, conn)
	p := program.Start(t, "migrate", "down", "--wait", "--database", url)
	p.Line("waiting for worker 700 (paris): ")
	p.Signal(syscall.SIGINT)
	if code := p.End(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	p.Line("pgflurry: stopped by signal: interrupt")
	if !server.Value[bool](t, conn, "SELECT to_regnamespace('pgflurry') IS NOT NULL") {
		t.Error("the schema is gone")
	}
}
