package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgflurry/bench/report"
	"pgflurry/bench/trial"
)

// connectBefore are the workloads without pgbench.
var connectBefore = map[string]bool{
	"one per round trip, fixed bytes, 1 client": true, "1,000 per statement, prepared, 1 client": true,
	"a proxy without clients": true, "20 of each new session, prepared, 64 clients": true,
}

func TestTheTargetsAreMeasuredAndJudged(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	said := measured(t, command(t, out, "targets", "--clients", "1", "--rounds", "1", "--duration", "1s"))
	r := read(t, out)
	figures, verdicts := 8+4+2+3+1+6+3+1, 4+1+1+2+1+1+2+1+1
	if len(r.NotRun) > 0 {
		if os.Getenv("PGFLURRY_TEST_REDIS") == "1" {
			t.Fatalf("not run: %v", r.NotRun)
		}
		figures, verdicts = figures-1, verdicts-2
	}
	if len(r.Figures) != figures || len(r.Verdicts) != verdicts || r.Incomplete != "" || r.Kind != report.KindTargets {
		t.Errorf("%d figures, %d verdicts, incomplete: %q; expected %d and %d",
			len(r.Figures), len(r.Verdicts), r.Incomplete, figures, verdicts)
	}
	for _, f := range r.Figures {
		if f.PerSecond.Median <= 0 || len(f.CPU) == 0 || f.ServerCPU == nil ||
			(f.WAL == nil) != (f.Contender == report.Redis || f.Contender == report.Limit) {
			t.Errorf("incomplete: %+v", f)
		}
	}
	for _, s := range r.Samples {
		if (s.Opening == nil) != connectBefore[s.Workload] ||
			s.Opening != nil && (s.Opening.Operations == 0 ||
				s.Opening.CPU[trial.Database]+s.Opening.CPU[trial.Middle] <= 0) {
			t.Errorf("%s, %s: opening %+v; expected one of what pgbench does, which connects within its run",
				s.Workload, s.Contender, s.Opening)
		}
	}
	text, err := os.ReadFile(filepath.Join(out, "results.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range r.Verdicts {
		if v.Quartiles != nil || v.Figure <= 0 || !strings.Contains(string(text), "| "+v.Claim+" | ") {
			t.Errorf("incomplete or not in results.md: %+v", v)
		}
	}
	began, _, _ := strings.Cut(said, "round 1 of 1; about ")
	for _, what := range []string{
		"--seed ", "max_connections = 500", r.Versions["PostgreSQL"], r.Versions["proxy"], r.Versions["pgbench"],
		r.Versions["pgflurry-bench"],
	} {
		if !strings.Contains(began, what) {
			t.Errorf("%q is not printed before the first round, with its time left", what)
		}
	}
}
