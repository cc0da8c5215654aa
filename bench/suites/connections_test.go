package suites

import (
	"strings"
	"testing"

	"pgflurry/bench/report"
	"pgflurry/bench/servers"
	"pgflurry/bench/statistics"
	"pgflurry/bench/trial"
)

func TestAConnectionIsMeasuredAtEveryServerThatIsThere(t *testing.T) {
	b := &Connections{Servers: everywhere(), Workloads: ConnectionWorkloads, Clients: []int{1, 8}, Idle: 50}
	plan, err := b.Plan()
	if err != nil {
		t.Fatal(err)
	}
	// six sources: memory, and two numbers of clients that connect and two that draw; five sources beside others, for
	// three numbers
	if want := 6*(1+2+2) + 5*3; len(plan.Trials) != want {
		t.Errorf("%d trials; expected %d", len(plan.Trials), want)
	}
	for _, one := range plan.Trials {
		if _, front := plan.Watch[one.Contender][trial.Middle]; front != one.Through ||
			plan.Watch[one.Contender][trial.Database] == 0 {
			t.Errorf("%s is watched as %v", one.Contender, plan.Watch[one.Contender])
		}
	}
	b.Servers.Redis = servers.Server{Missing: "redis-server is not installed"}
	fewer, err := b.Plan()
	if err != nil || len(fewer.Trials) != len(plan.Trials)-5 {
		t.Errorf("without Redis there are %d trials (error %v)", len(fewer.Trials), err)
	}
	if lines := b.NotRun(); len(lines) != 1 || !strings.Contains(lines[0], "redis-server is not installed") {
		t.Errorf("not run: %q", lines)
	}
	b.Workloads = []string{"magic"}
	if _, err := b.Plan(); err == nil || !strings.Contains(err.Error(), `"magic"`) {
		t.Errorf("a workload that there is not: error %v", err)
	}
}

func TestABackendForEachConnectionBoundsHowManyStay(t *testing.T) {
	b := &Connections{Servers: everywhere(), Idle: 5000}
	for _, s := range connected {
		want := 5000
		if s.from == fromPostgres || s.from == fromProxy {
			want = mostBackends
		}
		if got := b.staying(s); got != want {
			t.Errorf("%s: %d connections stay; expected %d", s.name, got, want)
		}
	}
}

func TestTheIDDatabaseIsJudgedByItsMemoryAndBothPathsByTheClientBesideOthers(t *testing.T) {
	spread := func(f float64) statistics.Spread { return statistics.Spread{Low: f, Median: f, High: f, N: 3} }
	memory := spread(17 << 10)
	figures := []report.Figure{
		{Contender: unbacked, Workload: stay, Task: stay, Memory: &memory},
		{Contender: report.Nextval, Workload: stay, Task: stay, Memory: &memory},
		{
			Contender: unbacked, Workload: "w", Task: besideMany,
			Latency: map[string]statistics.Spread{"p99": spread(19_000)},
		},
		{
			Contender: proxied, Workload: "w", Task: besideMany, Memory: &memory,
			Latency: map[string]statistics.Spread{"p99": spread(21_000)},
		},
		{Contender: unbacked, Workload: "w", Task: logIn, Latency: map[string]statistics.Spread{"p99": spread(9)}},
	}
	v := ConnectionVerdicts(nil, figures)
	if len(v) != 3 || v[0].Figure != 17 || v[0].Holds() || v[1].Figure != 19 || !v[1].Holds() ||
		v[2].Figure != 21 || v[2].Holds() {
		t.Errorf("verdicts %+v", v)
	}
}
