package generator

import (
	"math"
	"math/rand/v2"
	"testing"
)

// quiet draws two IDs in each of n ticks, as a transaction with two rows does,
// and returns the first and the second of each.
func quiet(t *testing.T, n int) [2][]int64 {
	t.Helper()
	r := newRig(t, DefaultLayout())
	random := rand.New(rand.NewPCG(1, 2))
	r.start = random.Uint32N
	r.at(1000)
	r.permit(9, 0, 1<<40)
	var ids [2][]int64
	for range n {
		r.at(r.clock() + 7)
		for i := range ids {
			r.one()
			ids[i] = append(ids[i], r.last)
		}
	}
	return ids
}

// rest counts how often each remainder of a division by m occurs.
func rest(ids []int64, m int64) []int {
	counts := make([]int, m)
	for _, id := range ids {
		counts[id%m]++
	}
	return counts
}

func TestAQuietSystemUsesAllRemaindersAlike(t *testing.T) {
	const n = 64_000
	for i, ids := range quiet(t, n) {
		for m := int64(2); m <= 1024; m *= 2 {
			// Chi-square with m-1 degrees of freedom: mean m-1, standard deviation sqrt(2(m-1)); six of those. The seed
			// is fixed.
			mean := float64(n) / float64(m)
			chi := 0.0
			for _, count := range rest(ids, m) {
				chi += (float64(count) - mean) * (float64(count) - mean) / mean
			}
			if limit := float64(m-1) + 6*math.Sqrt(float64(2*(m-1))); chi > limit {
				t.Errorf("draw %d of a transaction, modulo %d: chi-square %.1f above %.1f: %v",
					i+1, m, chi, limit, rest(ids, m))
			}
		}
	}
}

func TestATickEnteredByTheClockBeginsInTheLowerQuarter(t *testing.T) {
	for _, test := range []struct {
		bits int
		want uint32 // how many different sequences it may begin with
	}{{1, 2}, {2, 2}, {3, 2}, {4, 4}, {12, 1024}, {22, 1 << 20}} {
		layout := small()
		layout.TimestampBits, layout.SequenceBits = 38, test.bits
		r := newRig(t, layout)
		var asked uint32
		r.start = func(limit uint32) uint32 { asked = limit; return limit - 1 }
		r.at(1000)
		r.permit(1, 0, 2000)
		if p := r.one(); asked != test.want || p.Sequence != int(test.want)-1 {
			t.Errorf("%d sequence bits: chosen from %d, sequence %d; want %d", test.bits, asked, p.Sequence, test.want)
		}
	}
}

func TestTheRandomSourceIsNotAskedWithinATickOrAfterOverflow(t *testing.T) {
	r := newRig(t, small())
	asked := 0
	r.start = func(uint32) uint32 { asked++; return 0 }
	r.at(1000)
	r.permit(1, 0, 2000)
	for range 40 { // ten ticks, all but the first entered by overflow
		r.one()
	}
	if asked != 1 {
		t.Errorf("asked %d times, want once", asked)
	}
}
