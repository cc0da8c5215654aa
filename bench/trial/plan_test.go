package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// scripted is a plan whose trials do 1000 × d operations a second and record that they ran.
func scripted(ran *[]string, workloads, contenders int) Plan {
	p := Plan{Rounds: 20, Duration: time.Second, Seed: 7}
	for w := range workloads {
		for c := range contenders {
			name := fmt.Sprintf("%d%c", w, 'A'+c)
			p.Trials = append(p.Trials, Trial{
				Workload: Workload{Name: fmt.Sprint(w)}, Contender: string(rune('A' + c)),
				Run: func(_ context.Context, d time.Duration, _ Measure) (Count, error) {
					*ran = append(*ran, name)
					return Count{Operations: d.Milliseconds(), Elapsed: d}, nil
				},
			})
		}
	}
	return p
}

func TestContendersOfAWorkloadTakeTurnsInAnOrderThatTheSeedDecides(t *testing.T) {
	var first, again, other []string
	p := scripted(&first, 2, 3)
	if _, err := Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	orders := make(map[string]bool)
	for round := range slices.Chunk(first, 6) {
		if sorted := strings.Join(slices.Sorted(slices.Values(round)), " "); sorted != "0A 0B 0C 1A 1B 1C" {
			t.Fatalf("a round was %v; expected every trial once", round)
		}
		for _, name := range round[:3] {
			if name[0] != '0' {
				t.Fatalf("a round was %v; expected the contenders of a workload one after the other", round)
			}
		}
		orders[strings.Join(round[:3], " ")] = true
	}
	if len(orders) < 3 {
		t.Errorf("20 rounds had the orders %v only", orders)
	}
	if _, err := Run(t.Context(), scripted(&again, 2, 3)); err != nil || !slices.Equal(first, again) {
		t.Errorf("the same seed gave another order (error %v)", err)
	}
	p = scripted(&other, 2, 3)
	p.Seed = 8
	if _, err := Run(t.Context(), p); err != nil || slices.Equal(first, other) {
		t.Errorf("another seed gave the same order (error %v)", err)
	}
}

func TestTheWarmUpIsInNoFigure(t *testing.T) {
	var ran []string
	p := scripted(&ran, 1, 2)
	p.Rounds, p.WarmUp = 2, 100*time.Millisecond
	samples, err := Run(t.Context(), p)
	if err != nil || len(ran) != 6 || len(samples) != 4 {
		t.Fatalf("%d turns gave %d samples (error %v); expected 6 and 4", len(ran), len(samples), err)
	}
	for _, s := range samples {
		if s.Round < 1 || s.Elapsed != time.Second {
			t.Errorf("a sample of round %d took %v; expected none of the warm-up", s.Round, s.Elapsed)
		}
	}
}

func TestAnInterruptedRunGivesWhatIsFinished(t *testing.T) {
	var ran []string
	p := scripted(&ran, 1, 2)
	ctx, cancel := context.WithCancel(t.Context())
	whole := p.Trials[1].Run
	p.Trials[1].Run = func(_ context.Context, d time.Duration, _ Measure) (Count, error) {
		if len(ran) >= 7 {
			cancel()
			return Count{}, errors.New("signal: killed")
		}
		return whole(ctx, d, Unwatched)
	}
	samples, err := Run(ctx, p)
	if !errors.Is(err, context.Canceled) || len(samples) < 7 {
		t.Errorf("%d samples and error %v; expected those of the 7 turns, and that it was cancelled", len(samples), err)
	}
}

func TestATrialThatFailsHasNoMoreTurnsAndTheOthersHaveTheirs(t *testing.T) {
	var ran, reported []string
	p := scripted(&ran, 2, 2)
	p.Rounds, p.WarmUp = 4, time.Second
	p.Trials[0].Workload.Settle = time.Second
	turns := 0
	whole := p.Trials[1].Run
	p.Trials[1].Run = func(ctx context.Context, d time.Duration, measure Measure) (Count, error) {
		if turns++; turns == 3 { // the first is the warm-up
			return Count{}, errors.New("no such table")
		}
		return whole(ctx, d, measure)
	}
	p.Failed = func(round int, of Trial, why error) {
		reported = append(reported, fmt.Sprintf("%d %s %s %v", round, of.Workload.Name, of.Contender, why))
	}
	var last time.Duration
	p.Progress = func(behind time.Duration, _ int) { last = behind }
	samples, err := Run(t.Context(), p)
	if want := []string{"2 0 B 0, B: no such table"}; err != nil || !slices.Equal(reported, want) {
		t.Fatalf("reported %q, error %v; expected %q and the run to go on", reported, err, want)
	}
	count := make(map[string]int)
	for _, s := range samples {
		count[s.Workload+s.Contender]++
	}
	if count["0A"] != 4 || count["0B"] != 1 || count["1A"] != 4 || count["1B"] != 4 || turns != 3 {
		t.Errorf("samples %v, %d turns of 0B; expected 4 of each but 1 of 0B, which is not tried after it failed",
			count, turns)
	}
	if last+p.Duration != p.Estimate() || p.Estimate() != 25*time.Second {
		t.Errorf("before the last turn %v were behind, of %v; expected the turns that are left out to count",
			last, p.Estimate())
	}
}

func TestARunWithoutATrialThatIsLeftIsAnError(t *testing.T) {
	var ran []string
	p := scripted(&ran, 1, 2)
	failed := 0
	p.Failed = func(int, Trial, error) { failed++ }
	for i := range p.Trials {
		p.Trials[i].Run = func(context.Context, time.Duration, Measure) (Count, error) {
			return Count{}, errors.New("no such table")
		}
	}
	if samples, err := Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), "no trial is left: 0, ") ||
		len(samples) != 0 || failed != 2 {
		t.Errorf("%d samples, %d failures reported, error %v", len(samples), failed, err)
	}
}

func TestATrialThatDidNothingIsAnErrorAndNoFigure(t *testing.T) {
	p := Plan{Rounds: 1, Duration: time.Second, Trials: []Trial{
		{Run: func(context.Context, time.Duration, Measure) (Count, error) { return Count{}, nil }},
	}}
	if samples, err := Run(t.Context(), p); !errors.Is(err, ErrNothingDone) || len(samples) != 0 {
		t.Errorf("%d samples, error %v", len(samples), err)
	}
	for _, p := range []Plan{{}, {Trials: p.Trials, Duration: 1}, {Trials: p.Trials, Rounds: 1}} {
		if _, err := Run(t.Context(), p); err == nil {
			t.Errorf("a plan of %d trials, %d rounds of %v was run", len(p.Trials), p.Rounds, p.Duration)
		}
	}
}
