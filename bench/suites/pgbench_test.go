package suites

import (
	"strings"
	"testing"

	"pgflurry/bench/driver"
	"pgflurry/bench/report"
	"pgflurry/bench/servers"
	"pgflurry/bench/trial"
)

func TestEachScriptDoesAsMuchAsItIsCountedFor(t *testing.T) {
	for file, want := range map[string]struct {
		statement string
		times     int
	}{
		"pgbench/pipelined.sql":           {"SELECT 1;", driver.PipelineLength},
		"pgbench/pipelined_nextval.sql":   {"SELECT nextval('pgflurry_bench.ids');", driver.PipelineLength},
		"pgbench/pipelined_snowflake.sql": {"SELECT next_snowflake();", driver.PipelineLength},
		"pgbench/bulk_nextval.sql": {
			"SELECT count(nextval('pgflurry_bench.ids')) FROM generate_series(1, 100000);", 1,
		},
		"pgbench/bulk_snowflake.sql":       {"SELECT count(next_snowflake()) FROM generate_series(1, 100000);", 1},
		"pgbench/insert_1000.sql":          {"FROM generate_series(1, 1000);", 1},
		"sources/next_snowflakes_1000.sql": {"SELECT * FROM next_snowflakes(1000);", 1},
	} {
		script, err := Scripts.ReadFile(file)
		if n, all := strings.Count(string(script), want.statement), strings.Count(string(script), ";"); err != nil ||
			n != want.times || all != n {
			t.Errorf("%s has %d statements, %d of them %q (error %v); expected %d",
				file, all, n, want.statement, err, want.times)
		}
	}
}

// everywhere are servers of all kinds, without Redis.
func everywhere() servers.Servers {
	on := func(pid int) servers.Server { return servers.Server{URL: "postgres://x", PID: pid} }
	return servers.Servers{
		Postgres: on(1), Proxy: on(2), Pooler: on(3), IDDatabase: on(4), Least: on(5), Balancer: on(6),
		Redis: servers.Server{Missing: "redis-server is not installed"},
	}
}

func TestEveryTargetIsJudgedOnceByItsOwnFigure(t *testing.T) {
	suite, notRun := IDs(), make(map[string]bool)
	plan, err := suite.Plan(Rig{
		Servers: everywhere(), Pgbench: new(driver.Pgbench), Workloads: suite.Workloads, Clients: suite.Clients,
		Say: func(what string) { notRun[what] = true },
	})
	if err != nil || len(notRun) != 2 || !notRun["Redis INCR: redis-server is not installed"] {
		t.Fatalf("error %v, not run: %v; expected Redis, and batches of 64 clients", err, notRun)
	}
	for _, one := range plan.Trials {
		watched := plan.Watch[one.Contender]
		if _, front := watched[trial.Middle]; front != one.Through || watched[trial.Database] == 0 {
			t.Errorf("%s is watched as %v", one.Contender, watched)
		}
	}
	for ratio, missed := range map[float64][]string{
		1:   {"proxy to `nextval`"},
		0.1: {"proxy to `nextval`", "function", "empty function", "layout"},
		9:   {"processor time"},
	} {
		to := make(map[string]report.Spread)
		for _, base := range suite.Bases {
			to[base] = report.SpreadOf([]float64{ratio})
		}
		var figures []report.Figure
		for _, one := range plan.Trials {
			f := report.Figure{
				Workload: one.Workload.Name, Task: one.Workload.Task, Clients: one.Workload.Clients,
				Contender: one.Contender, PerSecond: report.SpreadOf([]float64{layoutRate * ratio}), Ratios: to,
				CPURatios: to,
			}
			figures = append(figures, f)
		}
		verdicts, claims := suite.Verdicts(figures), make(map[string]bool)
		for _, v := range verdicts {
			claims[v.Claim] = true
			expected := false
			for _, part := range missed {
				expected = expected || strings.Contains(v.Claim, part)
			}
			if v.Holds() == expected {
				t.Errorf("with ratios of %v, %q holds: %v (the target is %v)", ratio, v.Claim, v.Holds(), v.Target)
			}
		}
		// prepared and simple at three numbers, each with two; Redis once; pipelined at three; the layout; the function
		// at three numbers, cold, three inserts, bulk
		if want := 2*3*2 + 1 + 3 + 1 + 3 + 1 + 3 + 1; len(verdicts) != want || len(claims) != want {
			t.Errorf("%d verdicts, %d claims; expected %d", len(verdicts), len(claims), want)
		}
	}
}

func TestAnOpenLoopWithoutItsClosedOneIsRefused(t *testing.T) {
	_, err := planIDs(Rig{Workloads: []string{openWorkload}, Clients: []int{1}})
	if err == nil || !strings.Contains(err.Error(), "needs prepared") {
		t.Errorf("error %v", err)
	}
}

func TestPassThroughFoldsTheSelectCellsAndComparesTheRestWithDirect(t *testing.T) {
	suite := PassThrough()
	plan, err := suite.Plan(Rig{
		Servers: everywhere(), Pgbench: new(driver.Pgbench), Workloads: suite.Workloads, Clients: []int{1, 16},
		Say: func(what string) { t.Error(what) },
	})
	if err != nil {
		t.Fatal(err)
	}
	var figures []report.Figure
	for _, one := range plan.Trials {
		f := report.Figure{Workload: one.Workload.Name, Task: one.Workload.Task, Contender: one.Contender}
		ratio := 2.0
		if f.Workload == "`SELECT 1`, prepared, 16 clients" {
			ratio = 1.0 / 32 // the mean of six cells is then 1
		}
		of := report.SpreadOf([]float64{ratio})
		f.Ratios = map[string]report.Spread{report.PgBouncer: of, report.HAProxy: of, report.Direct: of}
		figures = append(figures, f)
	}
	v := suite.Verdicts(figures)
	if len(v) != 6 || v[3].Figure < 0.999 || v[3].Figure > 1.001 || v[5].Figure != 1.0/32 || v[5].Holds() ||
		!strings.HasSuffix(v[5].Claim, "prepared, 16 clients") {
		t.Errorf("verdicts %+v; expected pipelined, two COPY, two means, and the lowest", v)
	}
}
