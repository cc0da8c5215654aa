package suites

import (
	"slices"
	"strings"
	"testing"

	"pgflurry/bench/driver"
	"pgflurry/bench/report"
	"pgflurry/bench/servers"
	"pgflurry/bench/statistics"
	"pgflurry/bench/trial"
)

// targetTrials are the trials of every workload, with or without Redis.
func targetTrials(t *testing.T, there servers.Servers) []trial.Trial {
	t.Helper()
	plan, err := Targets{
		Servers: there, Pgbench: new(driver.Pgbench), Workloads: TargetWorkloads, Clients: []int{1, 8, 16, 64},
	}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return plan.Trials
}

// figuresOf gives every trial the same ratio to all others, and the layout's speed.
func figuresOf(trials []trial.Trial, ratio float64) (figures []report.Figure) {
	always := statistics.Spread{Low: ratio, Median: ratio, High: ratio, N: 9}
	to := map[string]statistics.Spread{
		report.Limit: {Median: ratio}, report.Nextval: always, report.Redis: always,
		report.Floor: always,
	}
	for _, one := range trials {
		f := report.Figure{
			Workload: one.Workload.Name, Task: one.Workload.Task, Clients: one.Workload.Clients,
			Contender: one.Contender, PerSecond: statistics.Spread{Median: layoutRate},
		}
		switch f.Contender {
		case report.Nextval, report.Unlogged, report.Redis, report.Limit, report.Floor:
		default:
			f.Ratios, f.CPURatios = to, to
		}
		if f.Task == idle {
			f.PerSecond = statistics.Spread{Median: 1}
		}
		figures = append(figures, f)
	}
	return figures
}

func redisThere() servers.Servers {
	there := everywhere()
	there.Redis.URL = "redis://127.0.0.1:1"
	return there
}

func TestEveryTargetIsJudgedOnceByItsOwnFigure(t *testing.T) {
	trials := targetTrials(t, redisThere())
	// Three numbers of clients in two modes, and four to the program in C. Pipelined; two of processor time; batch; the
	// function at four numbers and cold; two inserts; bulk; idle
	const want = 6 + 8 + 1 + 2 + 1 + 5 + 2 + 1 + 1
	for ratio, missed := range map[float64][]string{
		1: {
			"1 client: proxy to `nextval`", "16 clients: proxy to `nextval`", "64 clients: proxy to `nextval`",
			"50 pipelined", "Redis",
		},
		0.1: {"proxy to `nextval`", "proxy to the least", "function in the database", "empty function"},
		9:   {"Redis"},
	} {
		verdicts, claims := TargetVerdicts(figuresOf(trials, ratio)), make(map[string]bool)
		for _, v := range verdicts {
			claims[v.Claim] = true
			if expected := slices.ContainsFunc(missed, func(part string) bool {
				return strings.Contains(v.Claim, part)
			}); v.Holds() == expected {
				t.Errorf("with a ratio of %v, %q holds: %v (the target is %v)", ratio, v.Claim, v.Holds(), v.Target)
			}
		}
		if len(verdicts) != want || len(claims) != want {
			t.Errorf("%d verdicts, %d claims; expected %d", len(verdicts), len(claims), want)
		}
	}
}

func TestAContenderWithoutItsRivalIsNotJudged(t *testing.T) {
	there := everywhere()
	there.Redis = servers.Server{Missing: "redis-server is not installed"}
	figures := figuresOf(targetTrials(t, there), 1)
	for i := range figures {
		figures[i].CPURatios = nil
	}
	for _, v := range TargetVerdicts(figures) {
		if strings.Contains(v.Claim, "Redis") {
			t.Errorf("without Redis there is %q", v.Claim)
		}
	}
	b := Targets{Servers: there, Workloads: TargetWorkloads}
	if lines := b.NotRun(); len(lines) != 1 || lines[0] != "Redis INCR: redis-server is not installed" {
		t.Errorf("not run: %q", lines)
	}
}
