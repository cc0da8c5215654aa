package bench

import "fmt"

// ClockReading is the contender that everything in process is compared with: one reading of the monotonic clock, without which no ID that
// carries the time can be made.
const ClockReading = "one reading of the clock"

// inProcess are the columns of a report of that kind, behind the throughput.
var inProcess = []column{
	{"ns of CPU, each", false, ownCPU},
	{"the same in readings of the clock", false, func(f Figure) string { return show(f.CPURatios, ClockReading) }},
	{"processors busy", false, busy},
}

func ownCPU(f Figure) string {
	c, ok := f.CPU[Self]
	if !ok {
		return notMeasured
	}
	return fmt.Sprintf("%.3g", 1000*c.Median)
}

func busy(f Figure) string {
	if f.Busy == nil {
		return notMeasured
	}
	return fmt.Sprintf("%.2f (%.2f – %.2f)", f.Busy.Median, f.Busy.Low, f.Busy.High)
}
