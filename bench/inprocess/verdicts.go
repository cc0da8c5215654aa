package main

import (
	"pgflurry/bench"
	"pgflurry/generator"
	"strings"
)

// The targets.
const (
	rateHeld       = 0.99 // of what the layout has: a turn begins and ends within a tick
	mostProcessors = 0.5
	mostReadings   = 1.3 // of the clock, the time of one Next
	leastMillions  = 100 // IDs a second by NextN
	leastToRival   = 1   // calls of Next in the time of a rival's
)

// verdicts says what the figures mean, for what was measured.
func verdicts(figures []bench.Figure) (all []bench.Verdict) {
	add := func(claim string, s bench.Spread, target float64, atMost bool) {
		all = append(all, bench.Verdict{Claim: claim, Figure: s.Median, Quartiles: &[2]float64{s.Low, s.High}, Target: target, AtMost: atMost})
	}
	layout := generator.DefaultLayout()
	rate := float64(layout.MaxSequence()+1) / layout.Unit.Seconds()
	for _, f := range figures {
		switch {
		case f.Task == atLimit && f.Contender == nextName:
			add(f.Workload+": share of the layout's 4,096 IDs a tick", by(f.PerSecond, rate), rateHeld, false)
			add(f.Workload+": processors busy", *f.Busy, mostProcessors, true)
		case f.Workload == workload(aCall, 1).Name && f.Contender == nextName:
			if reading, ok := f.Ratios[bench.ClockReading]; ok {
				add(f.Workload+": `Next`, in readings of the clock", inverse(reading), mostReadings, true)
			}
		case f.Workload == workload(aCall, 1).Name && f.Contender == nextNName:
			add(f.Workload+": `NextN`, millions of IDs a second", by(f.PerSecond, 1e6), leastMillions, false)
		case f.Task == aCall && rival(f.Contender):
			if ours, ok := f.Ratios[nextName]; ok {
				add(f.Workload+": `Next` to "+f.Contender, inverse(ours), leastToRival, false)
			}
		}
	}
	return all
}

func by(s bench.Spread, unit float64) bench.Spread {
	return bench.Spread{Low: s.Low / unit, Median: s.Median / unit, High: s.High / unit, N: s.N}
}

// inverse is the spread of the ratios the other way round.
func inverse(s bench.Spread) bench.Spread {
	return bench.Spread{Low: 1 / s.High, Median: 1 / s.Median, High: 1 / s.Low, N: s.N}
}

// rival says that a contender is another library.
func rival(contender string) bool {
	return contender != bench.ClockReading && !strings.HasPrefix(contender, "`time.") && !strings.HasPrefix(contender, "pgflurry")
}
