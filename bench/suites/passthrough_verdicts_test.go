package suites

import (
	"math"
	"strings"
	"testing"

	"pgflurry/bench/report"
	"pgflurry/bench/statistics"
	"pgflurry/bench/trial"
)

func TestVerdictsFoldTheSelectCellsAndCompareTheRestWithDirect(t *testing.T) {
	var trials []trial.Trial
	var figures []report.Figure
	for name, r := range map[string]float64{"a": 0.5, "b": 2, "c": 1} {
		trials = append(trials, trial.Trial{Workload: trial.Workload{Name: name, Group: SelectWorkload}})
		figures = append(figures, report.Figure{
			Workload: name, Contender: Pgflurry,
			Ratios: map[string]statistics.Spread{
				report.PgBouncer: {Median: r}, report.HAProxy: {Median: 0.9}, report.Direct: {Median: 9},
			},
		})
	}
	trials = append(trials, trial.Trial{Workload: trial.Workload{Name: "rows", Group: RowsWorkload}})
	figures = append(figures, report.Figure{Workload: "rows", Contender: Pgflurry, Ratios: map[string]statistics.Spread{
		report.PgBouncer: {Median: 9}, report.Direct: {Median: 0.89},
	}},
		report.Figure{Workload: "rows", Contender: report.PgBouncer, Ratios: map[string]statistics.Spread{
			report.Direct: {Median: 7},
		}})
	v := PassThroughVerdicts(trials, figures)
	if len(v) != 4 || v[0].Figure != 1 || !v[0].Holds() || v[1].Figure != 0.5 || v[1].Holds() ||
		!strings.HasSuffix(v[1].Claim, "a") || math.Abs(v[2].Figure-0.9) > 1e-9 || v[2].Holds() ||
		v[3].Figure != 0.89 || v[3].Holds() {
		t.Errorf("verdicts %+v", v)
	}
}
