package main

import (
	"strings"

	"pgflurry/bench"
	"pgflurry/generator"
)

// The targets.
const (
	rateHeld       = 0.99 // of what the layout has: a turn begins and ends within a tick
	mostProcessors = 0.5
	mostReadings   = 1.3
	leastMillions  = 100 // IDs a second by NextN
)

// verdicts says what the figures mean, for what was measured. What is judged is the generator with the proxy's clock; the one with another
// clock is held against the reading alone.
func verdicts(_ []bench.Trial, figures []bench.Figure) (all []bench.Verdict) {
	layout := generator.DefaultLayout()
	rate := float64(layout.MaxSequence()+1) / layout.Unit.Seconds()
	alone := workload(aCall, 1).Name
	for _, f := range figures {
		switch {
		case f.Task == atLimit && f.Contender == nextName:
			all = append(all, bench.AtLeast(f.Workload+": share of the layout's 4,096 IDs a tick", f.PerSecond.Times(1/rate), rateHeld),
				bench.AtMost(f.Workload+": processors busy", *f.Busy, mostProcessors))
		case f.Workload == alone && f.Contender == nextNName:
			all = append(all, bench.AtLeast(f.Workload+": `NextN`, millions of IDs a second", f.PerSecond.Times(1e-6), leastMillions))
		case f.Workload == alone && ours(f.Contender):
			if readings, ok := f.CPURatios[bench.ClockReading]; ok {
				all = append(all, bench.AtMost(f.Workload+": processor time of "+f.Contender+", in readings of the clock", readings, mostReadings))
			}
		case f.Task == aCall && rival(f.Contender):
			if theirs, ok := f.Ratios[nextName]; ok {
				all = append(all, bench.Faster(f.Workload+": throughput of `Next` to that of "+f.Contender, theirs.Inverse()))
			}
		}
	}
	return all
}

func ours(contender string) bool { return strings.HasPrefix(contender, "pgflurry") }

// rival says that a contender is another library.
func rival(contender string) bool {
	return contender != bench.ClockReading && !strings.HasPrefix(contender, "`time.") && !ours(contender)
}
