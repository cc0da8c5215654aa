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
	mostReadings   = 1.3
	leastMillions  = 100 // IDs a second by NextN
	leastToRival   = 1
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
			if readings, ok := f.CPURatios[bench.ClockReading]; ok {
				add(f.Workload+": processor time of `Next`, in readings of the clock", readings, mostReadings, true)
			}
		case f.Workload == workload(aCall, 1).Name && f.Contender == nextNName:
			add(f.Workload+": `NextN`, millions of IDs a second", by(f.PerSecond, 1e6), leastMillions, false)
		case f.Workload == workload(aCall, 1).Name && rival(f.Contender):
			// A call that nobody disturbs costs its processor time, also on a machine that is busy otherwise.
			if theirs, ok := f.CPURatios[nextName]; ok {
				add(f.Workload+": processor time of "+f.Contender+" to that of `Next`", theirs, leastToRival, false)
			}
		case f.Task == aCall && rival(f.Contender):
			if theirs, ok := f.Ratios[nextName]; ok {
				add(f.Workload+": throughput of `Next` to that of "+f.Contender, inverse(theirs), leastToRival, false)
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
