package command

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// event is a table with a partition of two years ago, which --keep drops.
const event = `
	CREATE TABLE event (id bigint DEFAULT next_snowflake() PRIMARY KEY, writer int) PARTITION BY RANGE (id);
	DO $$BEGIN
		EXECUTE format('CREATE TABLE event_old PARTITION OF event FOR VALUES FROM (%s) TO (%s)',
			snowflake_floor(now() - interval '2 years'), snowflake_floor(now() - interval '1 year'));
	END$$`

func TestPartitionMakesAndDropsPartitionsThroughTheProxyWhileClientsWrite(t *testing.T) {
	direct := server.Migrated(t)
	conn := server.Connect(t, direct)
	server.Do(t, conn, event)
	proxy := program.Serve(t, direct, "partition")
	run(t, "partition", "event", "--database", proxy.URL, "--every", "month", "--ahead", "1").is(t, 0)
	ctx, stop := context.WithCancel(server.Within(t))
	defer stop()
	var written atomic.Int64
	var writers sync.WaitGroup
	for writer := range 4 {
		client := server.Connect(t, proxy.URL)
		writers.Go(func() {
			for ctx.Err() == nil {
				var id int64
				err := client.QueryRow(context.WithoutCancel(ctx), "SELECT next_snowflake()").Scan(&id)
				if err == nil {
					_, err = client.Exec(context.WithoutCancel(ctx), "INSERT INTO event VALUES ($1, $2)", id, writer)
				}
				if err != nil {
					t.Errorf("a writer: %v", err)
					return
				}
				written.Add(1)
			}
		})
	}
	for _, more := range [][]string{
		{"--every", "month", "--ahead", "6"},
		{"--every", "day", "--ahead", "250", "--zone", "Asia/Kolkata"},
		{"--every", "month", "--ahead", "9", "--keep", "1", "--yes"},
	} {
		before := written.Load()
		run(t, append([]string{"partition", "event", "--database", proxy.URL}, more...)...).is(t, 0)
		for written.Load() <= before && !t.Failed() { // each run has writers beside it
			server.Do(t, conn, "SELECT pg_sleep(0.01)")
		}
	}
	stop()
	writers.Wait()
	if rows := server.Value[int64](t, conn, "SELECT count(*) FROM event"); rows != written.Load() {
		t.Errorf("%d rows are there, but %d were acknowledged", rows, written.Load())
	}
	if server.Value[*string](t, conn, "SELECT to_regclass('event_old')::text") != nil {
		t.Error("the old partition is still there")
	}
}

func TestPartitionPrintsSQLThatPsqlRunsAsItStands(t *testing.T) {
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, event+`; ALTER TABLE event RENAME TO "Ev; ""x""`+"\n"+`:y's"`)
	const table = `"Ev; ""x""` + "\n" + `:y's"`
	args := []string{"partition", table, "--database", url, "--every", "week", "--keep", "2", "--print"}
	printed := run(t, args...)
	printed.is(t, 0)
	const count = "SELECT count(*) FROM pg_inherits WHERE inhparent = to_regclass($1)"
	if n := server.Value[int](t, conn, count, table); n != 1 {
		t.Fatalf("--print has changed the number of partitions to %d", n)
	}
	psql := exec.CommandContext(server.Within(t), server.Tool(t, "psql"), "-Xqd", url, "-v", "ON_ERROR_STOP=1")
	psql.Stdin = strings.NewReader(printed.out)
	var said bytes.Buffer
	psql.Stdout, psql.Stderr = &said, &said
	if err := psql.Run(); err != nil || said.Len() > 0 {
		t.Fatalf("%v: %s\n%s", err, said.String(), printed.out)
	}
	again := run(t, args...)
	again.is(t, 0)
	if strings.Contains(again.out, "TABLE") {
		t.Errorf("after psql the command has still to do:\n%s", again.out)
	}
	done := run(t, args[:len(args)-1]...)
	done.is(t, 0)
	if !strings.HasPrefix(done.out, "there are partitions until ") {
		t.Errorf("it says %s", done.out)
	}
	server.Do(t, conn, fmt.Sprintf("INSERT INTO %s DEFAULT VALUES", table))
}

func TestPartitionAsksForConsentAndRefusesWrongValues(t *testing.T) {
	url := server.Migrated(t)
	server.Exec(t, url, event)
	at := []string{"partition", "event", "--database", url}
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--every", "month", "--keep", "3"}, 2, "nothing was dropped: drop public.event_old"},
		{[]string{}, 2, "--every is missing; expected one of day"},
		{[]string{"--every", "hour"}, 2, "expected one of day, week, month, year"},
		{[]string{"--every", "day", "--ahead", "0"}, 2, "--ahead is 0; expected 1 to"},
		{[]string{"--every", "day", "--keep", "-1"}, 2, "--keep is -1; expected 0 to"},
		{[]string{"--every", "day", "--lock-timeout", "0"}, 2, "--lock-timeout is 0s"},
		{[]string{"--every", "day", "--zone", "Mars"}, 2, "knows no time zone"},
		{[]string{"more", "--every", "day"}, 2, "2 tables were given"},
	} {
		run(t, append(at, test.args...)...).is(t, test.code, test.says, "hint: ")
	}
	runIn(t, []string{"PGFLURRY_YES=true"}, append(at, "--every", "month", "--keep", "3")...).is(t, 2)
	run(t, "partition", "none", "--database", url, "--every", "day").is(t, 2, "there is no table")
	run(t, "partition", "pgflurry.worker", "--database", url, "--every", "day").is(t, 3, "is not a partitioned table")
	run(t, "partition", "event", "--database", server.Database(t), "--every", "day").is(t, 2, "there is no table")
	run(t, "partition", "event", "--database", "postgres://127.0.0.1:1/x", "--every", "day").is(t, 4)
	run(t, append(at, "--every", "month", "--keep", "3", "--yes")...).is(t, 0)
}

func TestPartitionRefusesAPoolerButPrintsThroughOne(t *testing.T) {
	url := server.Migrated(t)
	server.Exec(t, url, event)
	pooled := server.Pooler(t, url, 1)
	refused := run(t, "partition", "event", "--database", pooled, "--every", "month")
	refused.is(t, 1, "a pooler stands between", "--print")
	printed := run(t, "partition", "event", "--database", pooled, "--every", "month", "--print")
	printed.is(t, 0)
	if !strings.Contains(printed.out, "ATTACH PARTITION") {
		t.Errorf("it prints %s", printed.out)
	}
	conn := server.Connect(t, url)
	if n := server.Value[int](t, conn, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"); n != 0 {
		t.Errorf("%d advisory locks are left in the pooler's sessions", n)
	}
}

func TestASignalEndsPartitionAndWhatItWaitsForInTheServer(t *testing.T) {
	url := server.Migrated(t)
	conn, other := server.Connect(t, url), server.Connect(t, url)
	server.Do(t, conn, event)
	server.Do(t, conn, "BEGIN; LOCK TABLE event IN SHARE UPDATE EXCLUSIVE MODE")
	p := program.Start(t, "partition", "event", "--database", url, "--every", "day", "--lock-timeout", "1h")
	server.Blocked(t, other, 1)
	p.Signal(syscall.SIGINT)
	if code := p.End(); code != 1 || p.Output() != "pgflurry: stopped by signal: interrupt\n"+
		"hint: What was done stays. Run it again: it goes on where it stopped." {
		t.Errorf("exit code %d; it prints\n%s", code, p.Output())
	}
	server.Blocked(t, other, 0)
	server.Do(t, conn, "COMMIT")
	run(t, "partition", "event", "--database", url, "--every", "day").is(t, 0)
}

func TestInADeadlockPartitionGivesUpAndTheApplicationDoesNot(t *testing.T) {
	url := server.Migrated(t)
	application, other := server.Connect(t, url), server.Connect(t, url)
	server.Do(t, application, event+`; CREATE TABLE writer (n int PRIMARY KEY);
		ALTER TABLE event ADD FOREIGN KEY (writer) REFERENCES writer;
		CREATE TABLE reader (event bigint REFERENCES event)`)
	server.Do(t, application, "BEGIN; DELETE FROM reader")
	p := program.Start(t, "partition", "event", "--database", url, "--every", "month")
	server.Eventually(t, other, `EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'
		AND datname = current_database()) OR EXISTS (SELECT FROM pg_locks WHERE relation = 'writer'::regclass)`)
	server.Do(t, application, "INSERT INTO writer VALUES (1); COMMIT")
	p.Line("pgflurry: create public.event_", "lock timeout")
	if code := p.End(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	run(t, "partition", "event", "--database", url, "--every", "month").is(t, 0)
	server.Do(t, application, "INSERT INTO event (writer) VALUES (1)")
}
