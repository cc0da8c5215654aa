package bench

import "fmt"

// ClockReading is the contender that everything in process is compared with: one reading of the monotonic clock, without which no ID that
// carries the time can be made.
const ClockReading = "one reading of the clock"

// inProcess are the columns of a report of that kind, behind the throughput.
var inProcess = []column{
	{"time of one, in readings of the clock", false, inReadings},
	{"ns of CPU, each", false, ownCPU},
	{"processors busy", false, busy},
}

// inReadings is how long one operation takes, in readings of the clock: the ratio of the throughputs upside down.
func inReadings(f Figure) string {
	r, ok := f.Ratios[ClockReading]
	if !ok {
		return "–"
	}
	return fmt.Sprintf("%.3g (%.3g – %.3g)", 1/r.Median, 1/r.High, 1/r.Low)
}

func ownCPU(f Figure) string {
	c, ok := f.CPU[Self]
	if !ok {
		return "not measured"
	}
	return fmt.Sprintf("%.3g", 1000*c.Median)
}

func busy(f Figure) string {
	if f.Busy == nil {
		return "not measured"
	}
	return fmt.Sprintf("%.2f (%.2f – %.2f)", f.Busy.Median, f.Busy.Low, f.Busy.High)
}
