package serve

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestAReplacementOfAKilledProxyDrawsAtOnceFromAnotherWorkerAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	all := newSeen(t)
	for range 3 {
		p := program.Serve(t, direct, "same node")
		conn := server.Connect(t, p.URL)
		for range 1000 {
			all.add("before the kill", mustDraw(t, conn))
		}
		p.Signal(syscall.SIGKILL)
		p.End()
	}
	if workers := all.workers(); len(workers) != 3 {
		t.Errorf("three processes that were killed used workers %v; expected one each", workers)
	}
}

func TestAProxyThatEndsInGoodOrderGetsItsWorkerAgain(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	all := newSeen(t)
	for range 2 {
		p := program.Serve(t, direct, "steady", "--window", "1s")
		conn := server.Connect(t, p.URL)
		for range 100 {
			all.add("an ordered end", mustDraw(t, conn))
		}
		p.Signal(syscall.SIGTERM)
		if code := p.End(); code != 0 {
			t.Fatalf("exit code %d; expected 0", code)
		}
		// The worker is free once its mark has passed.
		server.Exec(t, direct, `DO $$ BEGIN
			WHILE EXISTS (SELECT FROM pgflurry.worker WHERE node = 'steady'
				AND reserved_until > pgflurry.ticks(clock_timestamp())) LOOP
				PERFORM pg_sleep(0.01);
			END LOOP; END $$`)
	}
	if workers := all.workers(); len(workers) != 1 {
		t.Errorf("one node used workers %v; expected its own again", workers)
	}
}

func TestWithoutALeaseEverythingIsRelayedAndTheDatabaseAnswers(t *testing.T) {
	t.Parallel()
	t.Run("the lease database does not answer", func(t *testing.T) {
		direct := server.Migrated(t)
		p := program.ServeUnleased(t, direct, "no lease",
			"--lease-database", "postgres://postgres@127.0.0.1:1/postgres?sslmode=disable")
		p.Line("no worker is leased")
		if id := mustDraw(t, server.Connect(t, p.URL)); workerOf(id) != databaseWorker {
			t.Errorf("ID %d is of worker %d; expected the database's", id, workerOf(id))
		}
	})
	t.Run("the database was not migrated", func(t *testing.T) {
		direct := server.Database(t)
		p := program.ServeUnleased(t, direct, "not migrated")
		if line := p.Line("no worker is leased"); !strings.Contains(line, "migrate up") {
			t.Errorf("%q does not say what to run", line)
		}
		_, err := drawOne(server.Connect(t, p.URL))
		if err == nil || !strings.Contains(err.Error(), "42883") {
			t.Errorf("the call failed with %v; expected PostgreSQL's own 42883", err)
		}
	})
	t.Run("every worker is retired", func(t *testing.T) {
		direct := server.Migrated(t)
		server.Exec(t, direct, "UPDATE pgflurry.worker SET retired_at = now() WHERE kind = 'proxy'")
		p := program.ServeUnleased(t, direct, "nothing left")
		p.Line("no worker is free")
		if id := mustDraw(t, server.Connect(t, p.URL)); workerOf(id) != databaseWorker {
			t.Errorf("ID %d is of worker %d; expected the database's", id, workerOf(id))
		}
	})
}

func TestADatabaseOfAnotherNamespaceEndsTheProxyWithAHint(t *testing.T) {
	t.Parallel()
	direct, other := server.Migrated(t), server.Migrated(t)
	p := program.ServeUnleased(t, direct, "mismatch", "--databases", server.Name(t, direct)+","+server.Name(t, other))
	if code := p.End(); code != 3 {
		t.Errorf("exit code %d; expected 3", code)
	}
	if out := p.Output(); !strings.Contains(out, server.Name(t, other)) || !strings.Contains(out, "hint: ") {
		t.Errorf("the output names neither the database nor a way out:\n%s", out)
	}
}

func TestSIGTERMSendsIdleClientsAwayAndWaitsForOpenTransactions(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	p := program.Serve(t, direct, "drain")
	idle, busy := server.Connect(t, p.URL), server.Connect(t, p.URL)
	tx, err := busy.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	p.Signal(syscall.SIGTERM)
	p.Line("msg=draining")
	if err := waitClosed(idle); err == nil || !strings.Contains(err.Error(), "57P01") {
		t.Errorf("the idle client was told %v; expected 57P01", err)
	}
	var id int64
	if err := tx.QueryRow(context.Background(), "SELECT next_snowflake()").Scan(&id); err != nil ||
		workerOf(id) == databaseWorker {
		t.Errorf("inside its transaction the client got %d (%v); expected an ID of the proxy", id, err)
	}
	if err := tx.Commit(context.Background()); err != nil {
		t.Error(err)
	}
	if code := p.End(); code != 0 {
		t.Errorf("exit code %d; expected 0", code)
	}
	conn := server.Connect(t, direct)
	var released bool
	err = conn.QueryRow(context.Background(),
		"SELECT released_at IS NOT NULL FROM pgflurry.worker WHERE node = 'drain'").Scan(&released)
	if err != nil || !released {
		t.Errorf("the worker was not given back (%v)", err)
	}
}

// Some parents send each signal twice, such as timeout. That is no wish to end at once.
func TestASignalThatIsSentTwiceGivesTheWorkerBack(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	p := program.Serve(t, direct, "twice")
	conn := server.Connect(t, p.URL)
	if _, err := conn.Begin(context.Background()); err != nil {
		t.Fatal(err)
	}
	p.Signal(syscall.SIGTERM)
	p.Line("msg=draining")
	p.Signal(syscall.SIGTERM)
	p.Line("a signal is ignored")
	conn.Close(context.Background())
	if code := p.End(); code != 0 {
		t.Errorf("exit code %d; expected 0", code)
	}
	server.Eventually(t, server.Connect(t, direct),
		"EXISTS (SELECT FROM pgflurry.worker WHERE node = 'twice' AND released_at IS NOT NULL)")
}

func TestASecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	p := program.Serve(t, direct, "second signal", "--drain-timeout", "1h")
	conn := server.Connect(t, p.URL)
	if _, err := conn.Begin(context.Background()); err != nil {
		t.Fatal(err)
	}
	p.Signal(syscall.SIGTERM)
	p.Line("msg=draining")
	for ended := false; !ended; { // the first of these come within a second
		from := p.Printed()
		p.Signal(syscall.SIGTERM)
		ended = strings.Contains(p.LineFrom(from, "signal="), "a second signal ends the process at once")
	}
	if code := p.End(); code == 0 {
		t.Error("exit code 0; expected the signal's")
	}
}

// waitClosed waits for the proxy's FATAL error on an idle connection.
func waitClosed(conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, err := conn.WaitForNotification(ctx)
	return err
}

// The lease may be on another server than the data. Only the database that the sessions reach decides whether the proxy
// answers.
func TestOnlyTheDatabaseBehindTheProxyDecidesWhetherItAnswers(t *testing.T) {
	t.Parallel()
	lease, elsewhere := server.Migrated(t), server.Database(t)
	p := program.ServeUnleased(t, elsewhere, "elsewhere", "--lease-database", lease,
		"--databases", server.Name(t, elsewhere))
	p.Line("worker acquired")
	if line := p.Line("calls are relayed to PostgreSQL"); !strings.Contains(line, server.Name(t, elsewhere)) {
		t.Errorf("%q does not name the database", line)
	}
	if _, err := drawOne(server.Connect(t, p.URL)); err == nil || !strings.Contains(err.Error(), "42883") {
		t.Errorf("the call gave %v; expected PostgreSQL's own 42883", err)
	}
}

func TestTwoDatabasesWithOneFunctionWorkerEndTheProxy(t *testing.T) {
	t.Parallel()
	home, other := server.Migrated(t), server.Migrated(t)
	server.Exec(t, other, `UPDATE pgflurry.namespace
		SET id = '`+namespaceOf(t, home)+`'`) // as if the claim had been lost
	p := program.ServeUnleased(t, home, "same worker", "--databases", server.Name(t, home)+","+server.Name(t, other))
	if code := p.End(); code != 3 || !strings.Contains(p.Output(), "have the same worker 0") {
		t.Errorf("it ended with %d:\n%s", code, p.Output())
	}
}

// No command writes such a row. A home that was lost, and made anew by hand with other shares, would have it.
func TestADatabaseWhoseFunctionHasAWorkerOfProxiesIsNotAnsweredUntilItJoinsAgain(t *testing.T) {
	t.Parallel()
	home, joined := server.Migrated(t), server.Database(t)
	server.Migrate(t, joined, migrations.Settings{JoinURL: home})
	server.Exec(t, joined, `ALTER TABLE pgflurry.namespace DISABLE TRIGGER USER;
		UPDATE pgflurry.namespace SET function_worker = 500, function_workers = '{[0,16),[500,501)}';
		ALTER TABLE pgflurry.namespace ENABLE ALWAYS TRIGGER guard_namespace;
		CALL pgflurry.install_next_snowflake()`)
	p := program.Serve(t, home, "conflict", "--databases", server.Name(t, home)+","+server.Name(t, joined))
	line := p.Line("has worker 500, and the lease database keeps the workers 0 to 15 for functions")
	if !strings.Contains(line, "level=ERROR") || !strings.Contains(line, "this one last") {
		t.Errorf("it says %s", line)
	}
	through := server.In(t, p.URL, server.Name(t, joined))
	const worker = "SELECT snowflake_worker(id) FROM (SELECT next_snowflake() AS id OFFSET 0) AS i"
	draw := func() int {
		conn := server.Connect(t, through)
		id := server.Value[int64](t, conn, "SELECT next_snowflake()")
		return server.Value[int](t, conn, fmt.Sprintf("SELECT snowflake_worker(%d)", id))
	}
	if got := draw(); got != 500 {
		t.Errorf("the call was answered with worker %d", got)
	}
	// Such a home may have forgotten others, too, whose workers nobody else may get.
	server.Says(t, migrations.Up(server.Within(t), joined, migrations.Settings{JoinURL: home}),
		"does not keep worker 500 for functions", "may have forgotten others", "--joins-complete")
	at := p.Printed()
	server.Migrate(t, joined, migrations.Settings{JoinURL: home, JoinsComplete: true})
	if got := server.Value[int](t, server.Connect(t, joined), worker); got != 2 {
		t.Errorf("after joining again the function has worker %d", got)
	}
	p.LineFrom(at, "calls are answered from memory while a worker is held")
	if got := draw(); got < 16 {
		t.Errorf("the call was answered with worker %d, a function's", got)
	}
}

func namespaceOf(t *testing.T, url string) (id string) {
	t.Helper()
	err := server.Connect(t, url).QueryRow(context.Background(), "SELECT id::text FROM pgflurry.namespace").Scan(&id)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
