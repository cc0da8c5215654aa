package lease

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

const historySteps = 120

func checkHistories(t *testing.T, fails bool) {
	acquisitions, renewals, unknowns := 0, 0, 0
	for range 10 { // a thousand histories by default
		rapid.Check(t, func(t *rapid.T) {
			choose := func(what string, low, high int) int { return rapid.IntRange(low, high).Draw(t, what) }
			h := newHistory(choose, t.Fatalf, fails, "")
			h.run(historySteps)
			acquisitions, renewals, unknowns = acquisitions+h.acquisitions, renewals+h.renewals, unknowns+h.unknowns
		})
	}
	if acquisitions < 100 || renewals < 100 || unknowns < 20 {
		t.Errorf("the histories are too quiet to prove anything: %d acquisitions, %d renewals, %d unknown outcomes", acquisitions, renewals, unknowns)
	}
}

func TestInvariant4NoTickOfAWorkerLiesInTheGrantsOfTwoAcquisitionsWhateverTheClocksDo(t *testing.T) {
	checkHistories(t, false)
}

func TestInvariant4AlsoHoldsWhenAFailoverForgetsAcknowledgedCommitsAndClocksDifferByTheSkew(t *testing.T) {
	checkHistories(t, true)
}

// A proof is worth what it would refuse: with any one rule left out, some history must break an invariant.
func TestHistoriesNoticeEachRuleThatIsLeftOut(t *testing.T) {
	for _, c := range []struct {
		without string
		fails   bool
	}{
		{"owner", false},
		{"mark", false},
		{"cap", false},
		{"acknowledgement", false},
		{"gate", true},
		{"expiry", true},
		{"skew", true},
		{"quarantine after a reseed", true},
	} {
		t.Run(c.without, func(t *testing.T) {
			t.Parallel()
			type found string
			noticed := func(seed uint64) (what string) {
				defer func() {
					if f := recover(); f != nil {
						what = string(f.(found))
					}
				}()
				random := rand.New(rand.NewPCG(seed, 1))
				choose := func(_ string, low, high int) int { return low + random.IntN(high-low+1) }
				newHistory(choose, func(format string, args ...any) { panic(found(fmt.Sprintf(format, args...))) }, c.fails, c.without).run(historySteps)
				return ""
			}
			for seed := range uint64(100_000) {
				if what := noticed(seed); what != "" {
					t.Logf("history %d: %s", seed, what)
					return
				}
			}
			t.Errorf("no history noticed that the rule was left out")
		})
	}
}
