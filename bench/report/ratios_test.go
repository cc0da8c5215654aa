package report

import (
	"slices"
	"testing"
	"time"

	"pgflurry/bench/statistics"
	"pgflurry/bench/trial"
)

// drifting is a machine that gets slower from round to round, for both contenders alike.
func drifting() (trials []trial.Trial, samples []trial.Sample) {
	for _, c := range []string{"A", "B"} {
		trials = append(trials, trial.Trial{Workload: trial.Workload{Name: "w", Counts: "things"}, Contender: c})
	}
	for round, speed := range []int64{4000, 1000, 100} {
		samples = append(samples,
			trial.Sample{Workload: "w", Contender: "A", Round: round + 1, Count: trial.Count{
				Operations: speed, Elapsed: time.Second,
			}},
			trial.Sample{Workload: "w", Contender: "B", Round: round + 1, Count: trial.Count{
				Operations: 2 * speed, Elapsed: time.Second,
			}, CPU: map[string]time.Duration{trial.Middle: 3 * time.Millisecond}})
	}
	return trials, append(samples,
		trial.Sample{Workload: "w", Contender: "B", Round: 4, Count: trial.Count{Operations: 1, Elapsed: time.Second}})
}

func TestARatioIsTheMedianOfTheRatiosRoundByRound(t *testing.T) {
	trials, samples := drifting()
	if r := ratios(samples, "w", "B", "A"); !slices.Equal(r, []float64{2, 2, 2}) {
		t.Errorf("ratios %v; expected 2 in each of the three rounds that both have finished", r)
	}
	figures := Tabulate(trials, samples, []string{"A", "absent"})
	if len(figures) != 2 || figures[1].Ratios["A"] != ofRounds(2, 2, 2, 3) || len(figures[0].Ratios) != 0 ||
		len(figures[1].Ratios) != 1 {
		t.Fatalf("figures %+v", figures)
	}
	if figures[0].PerSecond.Median != 1000 {
		t.Errorf("median of A is %v; expected 1000", figures[0].PerSecond.Median)
	}
}

func TestProcessorTimeIsComparedRoundByRoundWhereItWasMeasured(t *testing.T) {
	spent := func(contender string, round int, operations int64, cpu map[string]time.Duration) trial.Sample {
		return trial.Sample{Workload: "w", Contender: contender, Round: round, Count: trial.Count{
			Operations: operations, Elapsed: time.Second,
		}, CPU: cpu}
	}
	samples := []trial.Sample{
		spent("A", 1, 10, map[string]time.Duration{trial.Database: time.Second}),
		spent("B", 1, 20, map[string]time.Duration{trial.Middle: time.Second, trial.Database: 2 * time.Second}),
		spent("A", 2, 10, map[string]time.Duration{trial.Database: time.Second}), spent("B", 2, 10, nil),
		spent("A", 3, 10, nil), spent("B", 3, 10, map[string]time.Duration{trial.Middle: time.Second}),
	}
	if got := cpuRatios(samples, "w", "B", "A"); !slices.Equal(got, []float64{1.5}) {
		t.Errorf("ratios %v; expected 1.5, of the round that both have", got)
	}
}

// ofRounds is the spread of n rounds.
func ofRounds(low, median, high float64, n int) statistics.Spread {
	return statistics.Spread{Low: low, Median: median, High: high, N: n}
}
