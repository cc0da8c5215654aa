package bench

import (
	"math"
	"slices"
	"testing"
	"time"
)

func TestQuartilesAreInterpolated(t *testing.T) {
	for _, c := range []struct {
		of   []float64
		want Spread
	}{
		{nil, Spread{}},
		{[]float64{3}, Spread{3, 3, 3, 1}},
		{[]float64{4, 1, 3, 2}, Spread{1.75, 2.5, 3.25, 4}},
		{[]float64{9, 1, 8, 2, 7, 3, 6, 4, 5}, Spread{3, 5, 7, 9}},
	} {
		if got := SpreadOf(c.of); got != c.want {
			t.Errorf("spread of %v is %+v; expected %+v", c.of, got, c.want)
		}
	}
	given := []float64{2, 1}
	SpreadOf(given)
	if !slices.Equal(given, []float64{2, 1}) {
		t.Error("the figures were put in order where they stood")
	}
	if got := GeometricMean([]float64{0.5, 2, 8}); math.Abs(got-2) > 1e-12 || GeometricMean(nil) != 0 {
		t.Errorf("geometric mean of 0.5, 2 and 8 is %v; expected 2", got)
	}
}

// A machine that gets slower from round to round, both contenders alike.
func drifting() (trials []Trial, samples []Sample) {
	for _, c := range []string{"A", "B"} {
		trials = append(trials, Trial{Workload: Workload{Name: "w", Unit: "things"}, Contender: c})
	}
	for round, speed := range []int64{4000, 1000, 100} {
		samples = append(samples,
			Sample{Workload: "w", Contender: "A", Round: round + 1, Count: Count{Operations: speed, Elapsed: time.Second}},
			Sample{Workload: "w", Contender: "B", Round: round + 1, Count: Count{Operations: 2 * speed, Elapsed: time.Second}, CPU: map[string]time.Duration{Middle: 3 * time.Millisecond}})
	}
	return trials, append(samples, Sample{Workload: "w", Contender: "B", Round: 4, Count: Count{Operations: 1, Elapsed: time.Second}})
}

func TestARatioIsTheMedianOfTheRatiosRoundByRound(t *testing.T) {
	trials, samples := drifting()
	if r := Ratios(samples, "w", "B", "A"); !slices.Equal(r, []float64{2, 2, 2}) {
		t.Errorf("ratios %v; expected 2 in each of the three rounds that both have finished", r)
	}
	figures := Tabulate(trials, samples, []string{"A", "absent"})
	if len(figures) != 2 || figures[1].Ratios["A"] != (Spread{2, 2, 2, 3}) || len(figures[0].Ratios) != 0 || len(figures[1].Ratios) != 1 {
		t.Fatalf("figures %+v", figures)
	}
	if figures[0].PerSecond.Median != 1000 {
		t.Errorf("median of A is %v; expected 1000", figures[0].PerSecond.Median)
	}
}

func TestWhatADriverSpendsOnConnectingIsInNoFigureOfProcessorTime(t *testing.T) {
	s := Sample{
		Count: Count{Operations: 1010, Elapsed: time.Second, Opening: &Opening{Operations: 10, CPU: map[string]time.Duration{Database: 20 * time.Millisecond}}},
		CPU:   map[string]time.Duration{Middle: time.Millisecond, Database: 30 * time.Millisecond, Self: time.Hour},
	}
	if each, measured := s.CPUEach(Database); !measured || each != 10 {
		t.Errorf("%v µs, measured: %v; expected 10: 10 ms for the 1,000 that are not of the opening", each, measured)
	}
	if each, measured := s.ServerCPUEach(); !measured || each != 11 {
		t.Errorf("%v µs of all servers, measured: %v; expected 11", each, measured)
	}
	s.Operations = 10
	if _, measured := s.CPUEach(Database); measured {
		t.Error("a run that did no more than its opening has a figure")
	}
	if _, measured := s.ServerCPUEach(); measured {
		t.Error("a run that did no more than its opening has a figure of all servers")
	}
}
