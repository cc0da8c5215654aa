package bench

import (
	"bufio"
	"slices"
	"strings"
	"testing"
	"time"
)

// targetTrials are those of every workload, with Redis or without.
func targetTrials(t *testing.T, servers Servers) []Trial {
	t.Helper()
	plan, err := Targets{Servers: servers, Pgbench: new(Pgbench), Workloads: TargetWorkloads, Clients: []int{1, 8, 16, 64}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return plan.Trials
}

// figuresOf gives every trial the same ratio to whatever it is compared with, and the layout's speed.
func figuresOf(trials []Trial, ratio float64) (figures []Figure) {
	to := map[string]Spread{Nextval: {ratio, ratio, ratio, 9}, Redis: {ratio, ratio, ratio, 9}}
	for _, trial := range trials {
		f := Figure{Workload: trial.Workload.Name, Task: trial.Workload.Task, Clients: trial.Workload.Clients, Contender: trial.Contender, PerSecond: Spread{Median: layoutRate}}
		switch f.Contender {
		case Nextval, Redis:
		default:
			f.Ratios, f.CPURatios = to, to
		}
		if f.Task == idle {
			f.PerSecond = Spread{Median: 1}
		}
		figures = append(figures, f)
	}
	return figures
}

func redisThere() Servers {
	servers := everywhere()
	servers.Redis.URL = "redis://127.0.0.1:1"
	return servers
}

func TestEveryTargetIsJudgedOnceByItsOwnFigure(t *testing.T) {
	trials := targetTrials(t, redisThere())
	// three numbers of clients in two modes; pipelined; twice the processor time; batch; the function at four numbers; two inserts; bulk; idle
	const want = 6 + 1 + 2 + 1 + 4 + 2 + 1 + 1
	for ratio, missed := range map[float64][]string{
		1:   {"1 client: proxy to `nextval`", "16 clients: proxy", "64 clients: proxy", "50 pipelined"},
		0.1: {"proxy to `nextval`", "function in the database", "bigserial"},
		9:   {"Redis"},
	} {
		verdicts, claims := TargetVerdicts(figuresOf(trials, ratio)), make(map[string]bool)
		for _, v := range verdicts {
			claims[v.Claim] = true
			if expected := slices.ContainsFunc(missed, func(part string) bool { return strings.Contains(v.Claim, part) }); v.Holds() == expected {
				t.Errorf("with a ratio of %v, %q is %s at %s", ratio, v.Claim, v.word(), v.target())
			}
		}
		if len(verdicts) != want || len(claims) != want {
			t.Errorf("%d verdicts, %d claims; expected %d", len(verdicts), len(claims), want)
		}
	}
}

func TestAWayWithoutItsRivalIsNotJudged(t *testing.T) {
	servers := everywhere()
	servers.Redis = Server{Missing: "redis-server is not installed"}
	figures := figuresOf(targetTrials(t, servers), 1)
	for i := range figures {
		figures[i].CPURatios = nil
	}
	for _, v := range TargetVerdicts(figures) {
		if strings.Contains(v.Claim, "Redis") {
			t.Errorf("without Redis there is %q: %s", v.Claim, v.word())
		}
	}
	b := Targets{Servers: servers, Workloads: TargetWorkloads}
	if lines := b.NotRun(); len(lines) != 1 || lines[0] != "Redis INCR: redis-server is not installed" {
		t.Errorf("not run: %q", lines)
	}
}

func TestProcessorTimeIsComparedRoundByRoundWhereItWasMeasured(t *testing.T) {
	spent := func(contender string, round int, operations int64, cpu map[string]time.Duration) Sample {
		return Sample{Workload: "w", Contender: contender, Round: round, Count: Count{Operations: operations, Elapsed: time.Second}, CPU: cpu}
	}
	samples := []Sample{
		spent("A", 1, 10, map[string]time.Duration{Database: time.Second}), spent("B", 1, 20, map[string]time.Duration{Middle: time.Second, Database: 2 * time.Second}),
		spent("A", 2, 10, map[string]time.Duration{Database: time.Second}), spent("B", 2, 10, nil),
		spent("A", 3, 10, nil), spent("B", 3, 10, map[string]time.Duration{Middle: time.Second}),
	}
	if got := CPURatios(samples, "w", "B", "A"); !slices.Equal(got, []float64{1.5}) {
		t.Errorf("ratios %v; expected 1.5, of the round that both have", got)
	}
}

// The bytes of a reply, as the servers send them.
const (
	row   = "D\x00\x00\x00\x0f\x00\x01\x00\x00\x00\x05" + "12345"
	tag   = "C\x00\x00\x00\x0d" + "SELECT 1\x00"
	ready = "Z\x00\x00\x00\x05I"
)

func TestAReplyThatHoldsNoIDIsAnError(t *testing.T) {
	for reply, want := range map[string]string{
		"2\x00\x00\x00\x04" + row + tag + ready: "", row + tag: "EOF", tag + ready: "0 came", row + row + tag + ready: "2 came",
		"E\x00\x00\x00\x17SERROR\x00C22012\x00Mno\x00\x00" + ready: "22012",
	} {
		if err := oneRow(bufio.NewReader(strings.NewReader(reply))); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v; expected %q", reply, err, want)
		}
	}
	for reply, fine := range map[string]bool{":12\r\n": true, "-ERR no\r\n": false, ":1": false} {
		if err := oneInteger(bufio.NewReader(strings.NewReader(reply))); (err == nil) != fine {
			t.Errorf("%q: error %v", reply, err)
		}
	}
}
