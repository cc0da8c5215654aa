package simulation

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"pgflurry/tests/support/race"
	"pgflurry/tests/support/volume"
)

func TestMain(m *testing.M) {
	if err := readTexts(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// steps is the length of a history.
const steps = 300

// histories returns the number of histories of each proof by seed. rapid leads a fifth as many. The race detector makes
// them several times slower, and has little to see: only one goroutine runs at a time.
func histories() int {
	if race.Enabled {
		return 200
	}
	return volume.Of(200, 1000)
}

// The worlds in which no ID may come twice.
var (
	anyClock     = world{steps: true, told: true}
	synchronous  = world{steps: true, failovers: true} // even without reports of the timelines
	asynchronous = world{failovers: true, acked: true, told: true, offset: skew, restores: true}
)

func TestInvariantsHoldWhateverTheClocksDo(t *testing.T) { prove(t, anyClock) }

func TestInvariantsHoldOverFailoversThatLoseWhatWasNotAcknowledgedWhateverTheClocksDo(t *testing.T) {
	prove(t, synchronous)
}

func TestInvariantsHoldOverFailoversAndRestoresThatLoseAcknowledgedCommitsWhileClocksDifferByTheSkew(t *testing.T) {
	prove(t, asynchronous)
}

// prove leads two kinds of histories. Those by seed choose evenly. Those by rapid prefer low choices, and rapid finds
// the shortest history that fails.
func prove(t *testing.T, w world) {
	var sum history
	begin := time.Now()
	for seed := range uint64(histories()) {
		broken := func(format string, args ...any) {
			t.Fatalf("history %d, after %v: %s",
				seed+1, time.Since(begin).Round(time.Millisecond), fmt.Sprintf(format, args...))
		}
		sum.add(live(w, chosen(seed), broken))
	}
	for range max(1, histories()/500) {
		rapid.Check(t, func(t *rapid.T) {
			choose := func(what string, low, high int) int { return rapid.IntRange(low, high).Draw(t, what) }
			sum.add(live(w, choose, t.Fatalf))
		})
	}
	t.Logf("%v", sum.story(time.Since(begin)))
	least := histories()
	if sum.drawn < 10*least || min(sum.acquisitions, sum.renewals, sum.unknowns, sum.takeovers) < least ||
		w.failovers && sum.failed < least || w.acked && sum.forgot < least {
		t.Errorf("the histories are too quiet to prove anything: %v", sum.story(time.Since(begin)))
	}
}

// live runs one history.
func live(w world, choose func(string, int, int) int, broken func(string, ...any)) *history {
	h := newHistory(w, choose, broken)
	defer h.end()
	h.run(steps)
	return h
}

func (h *history) add(other *history) {
	h.drawn += other.drawn
	h.acquisitions += other.acquisitions
	h.renewals += other.renewals
	h.unknowns += other.unknowns
	h.failed += other.failed
	h.forgot += other.forgot
	h.takeovers += other.takeovers
	h.lives += other.lives
}

func (h *history) story(d time.Duration) string {
	return fmt.Sprintf("%d IDs, %d processes, %d acquisitions, %d renewals, %d writes not acknowledged, "+
		"%d workers taken over, %d failovers, %d commits forgotten, in %v",
		h.drawn, h.lives, h.acquisitions, h.renewals, h.unknowns, h.takeovers, h.failed, h.forgot,
		d.Round(time.Millisecond))
}

// chosen returns the choices of a seed.
func chosen(seed uint64) func(string, int, int) int {
	random := rand.New(rand.NewPCG(seed, 1))
	return func(_ string, low, high int) int { return low + random.IntN(high-low+1) }
}
