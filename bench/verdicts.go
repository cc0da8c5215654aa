package bench

import (
	"fmt"
	"slices"
)

// Targets of the pass-through: how much of PgBouncer's and of the direct throughput is to be left.
const (
	meanToPgBouncer   = 1.0
	lowestToPgBouncer = 0.9
	toDirect          = 0.9
)

// PassThroughVerdicts says what the figures mean, for what was measured.
func PassThroughVerdicts(trials []Trial, figures []Figure) []Verdict {
	var cells []float64
	lowest, where := 0.0, ""
	var verdicts []Verdict
	for _, f := range figures {
		if f.Contender != Pgflurry {
			continue
		}
		group := trials[slices.IndexFunc(trials, func(t Trial) bool { return t.Workload.Name == f.Workload })].Workload.Group
		if r, ok := f.Ratios[PgBouncer]; ok && group == SelectWorkload {
			if cells = append(cells, r.Median); where == "" || r.Median < lowest {
				lowest, where = r.Median, f.Workload
			}
		}
		if r, ok := f.Ratios[Direct]; ok && group != SelectWorkload {
			verdicts = append(verdicts, Verdict{f.Workload + ": pgflurry to direct", r.Median, toDirect})
		}
	}
	if len(cells) == 0 {
		return verdicts
	}
	return append([]Verdict{
		{fmt.Sprintf("`SELECT 1`: geometric mean of pgflurry to PgBouncer, %d cells", len(cells)), GeometricMean(cells), meanToPgBouncer},
		{"the lowest of them: " + where, lowest, lowestToPgBouncer},
	}, verdicts...)
}

// IDVerdicts says what the figures mean, for the cells that have a target.
func IDVerdicts(figures []Figure) []Verdict {
	targets := map[string]map[string]float64{
		"next_snowflake, proxy": {
			"one per round trip, prepared, 1 client": 1.3, "one per round trip, prepared, 16 clients": 2, "one per round trip, prepared, 64 clients": 2,
			"one per round trip, simple, 1 client": 1.3, "one per round trip, simple, 16 clients": 2, "one per round trip, simple, 64 clients": 2,
			"50 pipelined, prepared, 8 clients": 5,
		},
		"next_snowflake, function in the database": {
			"one per round trip, prepared, 1 client": 0.9, "one per round trip, prepared, 16 clients": 0.9, "one per round trip, prepared, 64 clients": 0.9,
		},
	}
	var verdicts []Verdict
	for _, f := range figures {
		target, has := targets[f.Contender][f.Workload]
		if r, ok := f.Ratios[Nextval]; ok && has {
			verdicts = append(verdicts, Verdict{f.Workload + ": " + f.Contender + " to nextval", r.Median, target})
		}
	}
	return verdicts
}
