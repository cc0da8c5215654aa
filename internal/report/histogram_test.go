package report

import (
	"slices"
	"sync"
	"testing"
	"time"
)

func TestABucketEndsWithItsBoundAndHoldsAllBelow(t *testing.T) {
	h := NewHistogram(time.Millisecond, time.Second)
	for _, d := range []time.Duration{0, time.Millisecond, time.Millisecond + 1, time.Second, time.Minute} {
		h.Observe(d)
	}
	h.ObserveMany(2*time.Second, 3)
	s := h.Snapshot()
	if expected := []uint64{2, 4, 8}; !slices.Equal(s.Counts, expected) || s.Count() != 8 {
		t.Errorf("the counts are %d, %d in all; expected %d", s.Counts, s.Count(), expected)
	}
	if expected := 67*time.Second + 2*time.Millisecond + 1; s.Sum != expected {
		t.Errorf("the sum is %v; expected %v", s.Sum, expected)
	}
}

func TestASnapshotStaysAsItIs(t *testing.T) {
	h := NewHistogram(time.Second)
	before := h.Snapshot()
	h.Observe(0)
	if before.Count() != 0 || before.Sum != 0 || (Snapshot{}).Count() != 0 {
		t.Errorf("a snapshot has changed: %+v", before)
	}
}

func TestObservationsAtOnceAreAllCounted(t *testing.T) {
	h := NewHistogram(time.Second)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				h.Observe(time.Minute)
			}
		})
	}
	all.Wait()
	if s := h.Snapshot(); s.Counts[0] != 0 || s.Count() != 8000 || s.Sum != 8000*time.Minute {
		t.Errorf("of 8000 observations there are %+v", s)
	}
}
