package generator

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// quiet draws two IDs in each of n ticks, as a transaction with two rows does,
// and returns the first and the second of each.
func quiet(t *testing.T, layout Layout, n int) [2][]int64 {
	t.Helper()
	r := newRig(t, layout)
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
	for _, text := range []string{"twitter", "javascript", "40/0/13/10"} {
		layout, err := ParseLayout(text)
		if err != nil {
			t.Fatal(err)
		}
		usesAllAlike(t, layout)
	}
}

func usesAllAlike(t *testing.T, layout Layout) {
	t.Helper()
	const n = 64_000
	for i, ids := range quiet(t, layout, n) {
		for m := int64(2); m <= min(int64(layout.MaxSequence())+1, 1024); m *= 2 {
			// Chi-square with m-1 degrees of freedom: mean m-1, standard deviation sqrt(2(m-1)); six of those. The seed
			// is fixed.
			mean := float64(n) / float64(m)
			chi := 0.0
			for _, count := range rest(ids, m) {
				chi += (float64(count) - mean) * (float64(count) - mean) / mean
			}
			if limit := float64(m-1) + 6*math.Sqrt(float64(2*(m-1))); chi > limit {
				t.Errorf("layout %v, draw %d of a transaction, modulo %d: chi-square %.1f above %.1f: %v",
					layout, i+1, m, chi, limit, rest(ids, m))
			}
		}
	}
}

func TestAnIdleTickBeginsAnywhereAndABusyOneInTheLowerQuarter(t *testing.T) {
	for _, test := range []struct {
		bits       int
		idle, busy uint32 // how many different sequences it may begin with
	}{{1, 2, 2}, {2, 4, 2}, {3, 8, 2}, {4, 16, 4}, {12, 4096, 1024}, {22, 1 << 22, 1 << 20}} {
		layout := small()
		layout.TimestampBits, layout.SequenceBits = 38, test.bits
		r := newRig(t, layout)
		var asked []uint32
		r.start = func(limit uint32) uint32 { asked = append(asked, limit); return 0 }
		for _, tick := range []int64{1000, 1001, 1003} { // idle, after a tick with an ID, idle
			r.at(tick)
			r.permit(1, 0, 2000)
			r.one()
		}
		if expected := []uint32{test.idle, test.busy, test.idle}; !slices.Equal(asked, expected) {
			t.Errorf("%d sequence bits: ticks begin with one of %v; expected %v", test.bits, asked, expected)
		}
	}
}

func TestARunInAnIdleTickIsWhole(t *testing.T) {
	r := newRig(t, DefaultLayout())
	r.start = func(limit uint32) uint32 { return limit - 1 }
	r.permit(1, 0, 1<<40)
	for i, n := range []int{1, 2, 1000, 4096, 5000} {
		r.at(int64(1000 + 10*i))
		_, count, err := r.NextN(t.Context(), n)
		if expected := min(n, 4096); err != nil || count != expected {
			t.Errorf("a run of %d has %d IDs (%v); expected %d", n, count, err, expected)
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
