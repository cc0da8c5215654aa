package suites

import (
	"fmt"
	"slices"

	"pgflurry/bench/report"
	"pgflurry/bench/statistics"
	"pgflurry/bench/trial"
)

// Targets of the pass-through: the share of PgBouncer's and of the direct throughput.
const (
	meanToPgBouncer   = 1.0
	lowestToPgBouncer = 0.95
	meanToHAProxy     = 0.95
	pipelinedToDirect = 0.85
	toDirect          = 0.9
)

// PassThroughVerdicts says which targets are reached, of those that were measured.
func PassThroughVerdicts(trials []trial.Trial, figures []report.Figure) []report.Verdict {
	var cells, balanced []float64
	lowest, where := statistics.Spread{}, ""
	var verdicts []report.Verdict
	for _, f := range figures {
		if f.Contender != Pgflurry {
			continue
		}
		group := trials[slices.IndexFunc(trials, func(t trial.Trial) bool {
			return t.Workload.Name == f.Workload
		})].Workload.Group
		if r, ok := f.Ratios[report.PgBouncer]; ok && group == SelectWorkload {
			if cells = append(cells, r.Median); where == "" || r.Median < lowest.Median {
				lowest, where = r, f.Workload
			}
		}
		if r, ok := f.Ratios[report.HAProxy]; ok && group == SelectWorkload {
			balanced = append(balanced, r.Median)
		}
		if r, ok := f.Ratios[report.Direct]; ok && group != SelectWorkload {
			target := toDirect
			if group == pipelinedWorkload {
				target = pipelinedToDirect
			}
			verdicts = append(verdicts, report.AtLeast(f.Workload+": pgflurry to direct", r, target))
		}
	}
	if len(balanced) > 0 {
		verdicts = append([]report.Verdict{{
			Claim:  fmt.Sprintf("`SELECT 1`: geometric mean of pgflurry to HAProxy, %d cells", len(balanced)),
			Figure: statistics.GeometricMean(balanced), Target: meanToHAProxy,
		}}, verdicts...)
	}
	if len(cells) == 0 {
		return verdicts
	}
	return append([]report.Verdict{
		{
			Claim:  fmt.Sprintf("`SELECT 1`: geometric mean of pgflurry to PgBouncer, %d cells", len(cells)),
			Figure: statistics.GeometricMean(cells), Target: meanToPgBouncer,
		},
		report.AtLeast("the lowest of them: "+where, lowest, lowestToPgBouncer),
	}, verdicts...)
}
