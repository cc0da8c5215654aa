package inprocess

import (
	"strings"

	"pgflurry/bench/report"
	"pgflurry/bench/trial"
	"pgflurry/generator"
)

// The targets.
const (
	rateHeld       = 0.99 // of the layout's rate: a turn begins and ends within a tick
	mostProcessors = 0.5
	mostReadings   = 1.3
	leastMillions  = 100 // IDs a second by NextN
)

// Verdicts says which targets are reached, of those that were measured. It judges the generator with the proxy's clock.
// The generator with another clock is only compared with ClockReading.
func Verdicts(_ []trial.Trial, figures []report.Figure) (all []report.Verdict) {
	layout := generator.DefaultLayout()
	rate := float64(layout.MaxSequence()+1) / layout.Unit.Seconds()
	alone := workload(aCall, 1).Name
	for _, f := range figures {
		switch {
		case f.Task == atLimit && f.Contender == Next:
			all = append(all, report.AtLeast(f.Workload+": share of the layout's 4,096 IDs a tick",
				f.PerSecond.Times(1/rate), rateHeld),
				report.AtMost(f.Workload+": processors busy", *f.Busy, mostProcessors))
		case f.Workload == alone && f.Contender == nextNName:
			all = append(all, report.AtLeast(f.Workload+": `NextN`, millions of IDs a second",
				f.PerSecond.Times(1e-6), leastMillions))
		case f.Workload == alone && ours(f.Contender):
			if readings, ok := f.CPURatios[report.ClockReading]; ok {
				all = append(all, report.AtMost(f.Workload+": processor time of "+f.Contender+
					", in readings of the clock", readings, mostReadings))
			}
		case f.Task == aCall && rival(f.Contender):
			if theirs, ok := f.Ratios[Next]; ok {
				all = append(all,
					report.Faster(f.Workload+": throughput of `Next` to that of "+f.Contender, theirs.Inverse()))
			}
		}
	}
	return all
}

func ours(contender string) bool { return strings.HasPrefix(contender, "pgflurry") }

// rival says that a contender is another library.
func rival(contender string) bool {
	return contender != report.ClockReading && !strings.HasPrefix(contender, "`time.") && !ours(contender)
}
