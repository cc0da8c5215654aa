package report

import (
	"strings"
	"testing"

	"pgflurry/bench/trial"
	"pgflurry/internal/fault"
)

func TestAComparisonIsRefusedBeforeItBeginsWithWhatToRunInstead(t *testing.T) {
	settings := map[string]string{"a turn": "5s"}
	older := func(rounds int, command string) *Report {
		r := measuredAt(1000, rounds)
		r.Figures = Tabulate([]trial.Trial{{Workload: trial.Workload{Name: "w"}, Contender: "B"}}, r.Samples, nil)
		r.Settings, r.Command = settings, command
		return r
	}
	const measured = "pgflurry-bench run --clients 1,8 --duration 5s --warm-up 1s --rounds 9 --seed 7"
	quick := older(9, "pgflurry-bench run --quick --sources a,b --clients 8 --duration 1s --warm-up 0s --rounds 5 "+
		"--seed 7")
	quick.Quick = true
	other, turns := older(9, measured), older(9, measured)
	other.Kind, turns.Settings = KindTargets, map[string]string{"a turn": "2s", "Redis": "save"}
	for what, c := range map[string]struct {
		older        *Report
		quick        bool
		rounds       int
		want, advice string
	}{
		"nothing is wrong": {older: older(9, measured), rounds: 5},
		"another command": {
			older: other, rounds: 9, want: "expected a run of the same command", advice: "of this command",
		},
		"one round before": {
			older: older(1, "pgflurry-bench run --clients 8 --rounds 1 --seed 7"), rounds: 9,
			want: "has 1 round;", advice: "First: pgflurry-bench run --clients 8 --out DIR. Then",
		},
		"a quick look before": {
			older: quick, rounds: 9, want: "the older run is a quick look",
			advice: "First: pgflurry-bench run --sources a,b --out DIR. Then",
		},
		"a quick look now": {
			older: older(9, measured), quick: true, rounds: 9, want: "a quick look", advice: "without --quick",
		},
		"few rounds now": {older: older(9, measured), rounds: 4, want: "--rounds is 4", advice: "--rounds 5 or more"},
		"other turns": {
			older: turns, rounds: 9, want: "a turn: 2s → 5s", advice: "with --compare: " + measured + ".",
		},
	} {
		now := &Report{Kind: KindIDs, Quick: c.quick, Settings: settings}
		err := now.Comparable(c.older, c.rounds)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || fault.KindOf(err) != fault.Usage ||
			!strings.Contains(fault.HintOf(err), c.advice) {
			t.Errorf("%s: error %v, hint %q; expected %q and %q", what, err, fault.HintOf(err), c.want, c.advice)
		}
	}
	theirs := []trial.Trial{{Workload: trial.Workload{Name: "w"}, Contender: "C"}}
	if err := older(9, measured).Shares(theirs); err == nil || fault.KindOf(err) != fault.Usage {
		t.Errorf("no trial in common: error %v", err)
	}
	theirs[0].Contender = "B"
	if err := older(9, measured).Shares(theirs); err != nil {
		t.Errorf("a trial in common: %v", err)
	}
}
