package tests

import (
	_ "embed" // the SQL
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/bench/report"
	"pgflurry/bench/trial"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

//go:embed sql/schema_is_left.sql
var schemaIsLeftSQL string

func TestTheIDBenchmarkReportsEverySource(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	measured(t, command(t, out, "run", "--demo", "--clients", "3", "--rounds", "1", "--duration", "100ms"))
	r := read(t, out)
	missing := 0
	for program, sources := range map[string][]string{
		"redis-server": {"Redis INCR", "Redis INCR"}, "pgbouncer": {"nextval, PgBouncer"},
		"mariadbd": {"MariaDB auto", "MariaDB REPLACE"},
	} {
		if notRun := strings.Contains(strings.Join(r.NotRun, "\n"), sources[0]); notRun && required[program] != "" &&
			os.Getenv(required[program]) == "1" {
			t.Errorf("%s: not run: %v", program, r.NotRun)
		} else if notRun {
			missing += len(sources)
		}
	}
	if len(r.Figures) != 31-missing || r.Incomplete != "" || r.Kind != report.KindIDs {
		t.Errorf("%d figures, incomplete: %q; expected 31 less the %d that were not run (%v)",
			len(r.Figures), r.Incomplete, missing, r.NotRun)
	}
	for _, f := range r.Figures {
		_, front := f.CPU[trial.Middle]
		_, database := f.CPU[trial.Database]
		_, compared := f.Ratios[report.Nextval]
		switch {
		case f.PerSecond.Median <= 0 || len(f.Latency) != 5 || (f.WAL == nil) != ofAnotherMaker(f) || !database ||
			front != f.Through || compared != (f.Contender != report.Nextval):
			t.Errorf("incomplete: %+v", f)
		case f.Latency["p50"].Median > f.Latency["p99"].Median || f.Latency["p99"].Median > f.Latency["p99.9"].Median:
			t.Errorf("percentiles out of order: %+v", f.Latency)
		}
	}
}

// required are the variables that make a missing program a failure.
var required = map[string]string{
	"redis-server": "PGFLURRY_TEST_REDIS", "pgbouncer": "PGFLURRY_TEST_POOLER", "mariadbd": "PGFLURRY_TEST_MARIADB",
}

func ofAnotherMaker(f report.Figure) bool {
	return strings.HasPrefix(f.Contender, "Redis") || strings.HasPrefix(f.Contender, "MariaDB")
}

func TestServersThatRunAlreadyAreMeasuredAndLeftAsTheyWere(t *testing.T) {
	direct := server.Database(t)
	if out, err := exec.Command(program.Path(t), "migrate", "up", "--database", direct).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out := t.TempDir()
	run := exec.Command(binary, "run", "--postgres", direct, "--clients", "1", "--rounds", "1", "--duration", "100ms",
		"--warm-up", "0", "--sources", "nextval,snowflake-proxy,redis-incr", "--out", out)
	if said, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	r := read(t, out)
	if all := strings.Join(r.NotRun, "\n"); len(r.Figures) != 4 || !strings.Contains(all, "--proxy is not given") ||
		!strings.Contains(all, "--redis is not given") {
		t.Errorf("%d figures, not run: %q; expected nextval at four tasks, and the others not run", len(r.Figures), all)
	}
	leavesNoSchema(t, direct)
}

// leavesNoSchema fails if the benchmark's schema is in a database.
func leavesNoSchema(t *testing.T, direct string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), direct)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	left := true
	if err := conn.QueryRow(t.Context(), schemaIsLeftSQL).Scan(&left); err != nil || left {
		t.Errorf("the schema pgflurry_bench is left: %v (error %v)", left, err)
	}
}
