package tests

import (
	"os"
	"strings"
	"testing"

	"pgflurry/bench/report"
	"pgflurry/bench/trial"
)

func TestTheIDBenchmarkReportsEverySource(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	measured(t, command(t, out, "run", "--clients", "3", "--rounds", "1", "--duration", "1s"))
	r := read(t, out)
	missing := 0
	for program, figures := range map[string]int{"Redis INCR": 1 + 3 + 1, "nextval, PgBouncer": 1 + 3} {
		notRun := strings.Contains(strings.Join(r.NotRun, "\n"), program)
		if notRun && os.Getenv(required[program]) == "1" {
			t.Errorf("%s: not run: %v", program, r.NotRun)
		} else if notRun {
			missing += figures
		}
	}
	// prepared, open at three rates, simple, pipelined, batch, insert, cold, bulk
	if want := 19 + 3*8 + 6 + 4 + 5 + 3 + 5 + 3 - missing; len(r.Figures) != want || r.Incomplete != "" {
		t.Errorf("%d figures, incomplete: %q; expected %d (%v)", len(r.Figures), r.Incomplete, want, r.NotRun)
	}
	for _, f := range r.Figures {
		_, front := f.CPU[trial.Middle]
		_, database := f.CPU[trial.Database]
		_, compared := f.Ratios[report.Nextval]
		_, logged := f.Also["WAL bytes, each"]
		open := strings.Contains(f.Task, report.OpenLoop)
		bare := f.Contender == report.Redis || f.Contender == report.Least
		switch {
		case f.PerSecond.Median <= 0 || !database || front != f.Through || logged == bare ||
			compared != (f.Contender != report.Nextval):
			t.Errorf("incomplete: %+v", f)
		case !open && !strings.HasPrefix(f.Task, "20 of each") && len(f.Latency) != 1, open && len(f.Latency) != 5:
			t.Errorf("%s, %s: latency %v", f.Workload, f.Contender, f.Latency)
		case f.Latency["p50"].Median > f.Latency["p99"].Median || f.Latency["p99"].Median > f.Latency["p99.9"].Median:
			t.Errorf("percentiles out of order: %+v", f.Latency)
		}
	}
	if r.Settings["an fsync (median of 100)"] == "" || len(r.Verdicts) < 5 {
		t.Errorf("settings %v, %d verdicts", r.Settings, len(r.Verdicts))
	}
}

// required are the variables that make a missing program a failure.
var required = map[string]string{"Redis INCR": "PGFLURRY_TEST_REDIS", "nextval, PgBouncer": "PGFLURRY_TEST_POOLER"}
