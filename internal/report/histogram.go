package report

import (
	"sync/atomic"
	"time"
)

// A Histogram counts durations in fixed buckets. Make it with NewHistogram. An observation costs two atomic additions
// and no lock. A Snapshot may miss one that is under way. The methods are safe for concurrent use.
type Histogram struct {
	bounds []time.Duration // rising
	counts []atomic.Uint64 // not cumulative; the last counts what is above all bounds
	sum    atomic.Int64    // nanoseconds
}

// NewHistogram makes a histogram whose buckets end at bounds, inclusive and rising.
func NewHistogram(bounds ...time.Duration) *Histogram {
	return &Histogram{bounds: bounds, counts: make([]atomic.Uint64, len(bounds)+1)}
}

// Observe counts one duration.
func (h *Histogram) Observe(d time.Duration) { h.ObserveMany(d, 1) }

// ObserveMany counts n equal durations.
func (h *Histogram) ObserveMany(d time.Duration, n int) {
	at := 0
	for at < len(h.bounds) && d > h.bounds[at] {
		at++
	}
	h.counts[at].Add(uint64(n))
	h.sum.Add(int64(d) * int64(n))
}

// A Snapshot is a histogram at one moment.
type Snapshot struct {
	Bounds []time.Duration // where buckets end, rising; shared: do not write to it
	Counts []uint64        // cumulative; one more than Bounds, and the last is the total
	Sum    time.Duration   // of all observations
}

// Snapshot returns the present counts.
func (h *Histogram) Snapshot() Snapshot {
	s := Snapshot{Bounds: h.bounds, Counts: make([]uint64, len(h.counts)), Sum: time.Duration(h.sum.Load())}
	total := uint64(0)
	for i := range h.counts {
		total += h.counts[i].Load()
		s.Counts[i] = total
	}
	return s
}

// Count is the number of observations.
func (s Snapshot) Count() uint64 {
	if len(s.Counts) == 0 {
		return 0
	}
	return s.Counts[len(s.Counts)-1]
}
