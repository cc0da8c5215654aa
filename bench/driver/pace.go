package driver

import (
	"errors"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"pgflurry/bench/trial"
)

// Pace says when operations begin. The zero Pace is a closed loop.
type Pace struct {
	// Share makes an open loop, at this share of the throughput that the closed loop of the contender got last.
	Share float64
	// Closed is that throughput, in operations a second. Closed loops write it; nil: nobody asks.
	Closed *float64
}

// perSecond is how many operations an open loop begins in a second; 0 in a closed loop.
func (p Pace) perSecond() (float64, error) {
	if p.Share == 0 {
		return 0, nil
	}
	if p.Closed == nil || *p.Closed <= 0 {
		return 0, errors.New("its closed loop has no figure, so there is no rate for an open one")
	}
	return p.Share * *p.Closed, nil
}

// keep remembers the throughput of a closed loop.
func (p Pace) keep(c trial.Count) {
	if p.Share == 0 && p.Closed != nil && c.Elapsed > 0 {
		*p.Closed = float64(c.Operations) / c.Elapsed.Seconds()
	}
}

// newTrips is an empty histogram of microseconds, up to a minute, to three digits.
func newTrips() *hdrhistogram.Histogram { return hdrhistogram.New(1, time.Minute.Microseconds(), 3) }

// record adds a time. One beyond the histogram counts as its longest or shortest.
func record(trips *hdrhistogram.Histogram, took time.Duration) {
	_ = trips.RecordValue(min(trips.HighestTrackableValue(), max(1, took.Microseconds()))) // within its range
}

// latencyOf are the mean and the percentiles of a histogram; nil if it is empty.
func latencyOf(trips *hdrhistogram.Histogram) map[string]time.Duration {
	if trips.TotalCount() == 0 {
		return nil
	}
	latency := map[string]time.Duration{
		"mean": time.Duration(trips.Mean() * float64(time.Microsecond)),
		"max":  time.Duration(trips.Max()) * time.Microsecond,
	}
	for name, percentile := range map[string]float64{"p50": 50, "p99": 99, "p99.9": 99.9} {
		latency[name] = time.Duration(trips.ValueAtPercentile(percentile)) * time.Microsecond
	}
	return latency
}
