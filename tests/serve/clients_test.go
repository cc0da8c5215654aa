//go:build full

package serve

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestPgbenchDrawsInAllThreeProtocolModesWithoutADuplicate(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	server.Exec(t, direct, "CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY)")
	one, two := program.Serve(t, direct, "one"), program.Serve(t, direct, "two")
	all := newSeen(t)
	script := filepath.Join(t.TempDir(), "draw.sql")
	err := os.WriteFile(script, []byte("SELECT next_snowflake() AS id \\gset\n\\set shown debug(:id)\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	insert := filepath.Join(t.TempDir(), "insert.sql")
	if err := os.WriteFile(insert, []byte("INSERT INTO item DEFAULT VALUES;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const clients, each = 16, 1050 // 6 runs: 100,800 IDs
	for _, mode := range []string{"simple", "extended", "prepared"} {
		for _, p := range []*program.Proxy{one, two} {
			writer := pgbench(t, p.URL, mode, insert, 4, 100)
			drawer := pgbench(t, p.URL, mode, script, clients, each)
			runBoth(t, writer, drawer)
			shown := regexp.MustCompile(`int (\d{15,19})`).FindAllStringSubmatch(drawer.errors.String(), -1)
			if len(shown) != clients*each {
				t.Fatalf("pgbench -M %s showed %d IDs; expected %d", mode, len(shown), clients*each)
			}
			for _, match := range shown {
				id, err := strconv.ParseInt(match[1], 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				all.add("pgbench -M "+mode, id)
			}
		}
	}
	conn := server.Connect(t, direct)
	keys, err := list(conn, "SELECT id FROM item")
	if err != nil {
		t.Fatal(err)
	}
	all.add("DEFAULT", keys...)
	if workers := all.workers(); len(workers) != 3 || workers[databaseWorker] != len(keys) {
		t.Errorf("IDs by worker: %v; expected %d of worker 0, the rest of two proxies", workers, len(keys))
	}
}

type bench struct {
	*exec.Cmd
	errors *strings.Builder
}

func pgbench(t testing.TB, url, mode, script string, clients, each int) bench {
	t.Helper()
	cmd := exec.Command("pgbench", "-n", "-M", mode, "-c", strconv.Itoa(clients), "-j", "2", "-t", strconv.Itoa(each),
		"-f", script, url)
	errors := &strings.Builder{}
	cmd.Stderr = errors
	return bench{cmd, errors}
}

func runBoth(t testing.TB, benches ...bench) {
	t.Helper()
	for _, b := range benches {
		if err := b.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range benches {
		if err := b.Wait(); err != nil {
			t.Fatalf("pgbench: %v\n%.2000s", err, b.errors)
		}
	}
}

func TestEveryExecModeOfPgxDrawsFromTheProxy(t *testing.T) {
	t.Parallel()
	p := program.Serve(t, server.Migrated(t), "pgx")
	all := newSeen(t)
	modes := []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
		pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	}
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			conn := server.Connect(t, p.URL)
			for i := range 50 {
				var id int64
				if err := conn.QueryRow(context.Background(), "SELECT next_snowflake()", mode).Scan(&id); err != nil {
					t.Fatal(err)
				}
				all.add(mode.String(), id)
				if workerOf(id) == databaseWorker {
					t.Fatalf("draw %d came from the database", i)
				}
			}
		})
	}
}

func TestABatchDrawsOneIDPerQueryAndMixesWithOtherStatements(t *testing.T) {
	t.Parallel()
	p := program.Serve(t, server.Migrated(t), "batch")
	conn := server.Connect(t, p.URL)
	all := newSeen(t)
	for round := range 20 {
		var b pgx.Batch
		for i := range 30 {
			b.Queue("SELECT next_snowflake()").QueryRow(func(row pgx.Row) error {
				var id int64
				defer func() { all.add(fmt.Sprint("batch ", round), id) }()
				return row.Scan(&id)
			})
			b.Queue("SELECT $1::int", i).QueryRow(func(row pgx.Row) error {
				var got int
				if err := row.Scan(&got); err != nil || got != i {
					return fmt.Errorf("got %d (%v); expected %d", got, err, i)
				}
				return nil
			})
		}
		if err := conn.SendBatch(context.Background(), &b).Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAPipelineOfIDsIsAnsweredInOrder(t *testing.T) {
	t.Parallel()
	p := program.Serve(t, server.Migrated(t), "pipeline")
	conn := server.Connect(t, p.URL).PgConn()
	if _, err := conn.Prepare(context.Background(), "ids", "SELECT next_snowflake()", nil); err != nil {
		t.Fatal(err)
	}
	pipeline := conn.StartPipeline(context.Background())
	const n = 1000
	for range n {
		pipeline.SendQueryPrepared("ids", nil, nil, nil)
		if err := pipeline.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	last := int64(0)
	for got := 0; got < n; {
		results, err := pipeline.GetResults()
		if err != nil {
			t.Fatal(err)
		}
		reader, rows := results.(interface{ NextRow() bool })
		if !rows {
			continue
		}
		for reader.NextRow() {
			id, err := strconv.ParseInt(string(results.(interface{ Values() [][]byte }).Values()[0]), 10, 64)
			if err != nil || id <= last {
				t.Fatalf("ID %d came after %d (%v); expected rising ones", id, last, err)
			}
			last = id
			got++
		}
	}
	if err := pipeline.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAnAnsweredCallLeavesNoTraceInPostgreSQL(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	name := server.Name(t, direct)
	server.Exec(t, direct, "ALTER DATABASE "+name+" SET log_statement = 'all'")
	p := program.Serve(t, direct, "trace")
	conn := server.Connect(t, p.URL)
	modes := map[string]pgx.QueryExecMode{
		"simple": pgx.QueryExecModeSimpleProtocol, "unnamed": pgx.QueryExecModeExec,
		"prepared": pgx.QueryExecModeCacheStatement,
	}
	for how, mode := range modes {
		for _, sql := range []string{
			fmt.Sprintf("SELECT next_snowflake() AS answered_%s_%s", how, name),
			fmt.Sprintf("SELECT next_snowflake() + 0 AS forwarded_%s_%s", how, name),
		} {
			if _, err := conn.Exec(context.Background(), sql, mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	const last = "SELECT 'the last statement'"
	if _, err := conn.Exec(context.Background(), last, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	log := logUpTo(t, last)
	for how := range modes {
		if !strings.Contains(log, "forwarded_"+how+"_"+name) {
			t.Errorf("PostgreSQL's log lacks the forwarded call (%s), so it proves nothing", how)
		}
		if strings.Contains(log, "answered_"+how+"_"+name) {
			t.Errorf("PostgreSQL's log shows the answered call (%s)", how)
		}
	}
}

// logUpTo waits until the server's log contains text, and returns the log. The log of a container arrives late.
func logUpTo(t *testing.T, text string) string {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	limit := time.After(30 * time.Second)
	for {
		log, err := os.ReadFile(server.Cluster(t).Log)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(log), text) {
			return string(log)
		}
		select {
		case <-again.C:
		case <-limit:
			t.Fatalf("the server's log has no %q", text)
		}
	}
}
