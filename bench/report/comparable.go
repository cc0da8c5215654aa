package report

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"pgflurry/bench/trial"
	"pgflurry/internal/fault"
)

// Comparable is an error if this run, which has not begun and will have so many rounds, cannot be compared with an
// older one. The error says what to run instead. Of this run, only the flags are known.
func (r *Report) Comparable(older *Report, rounds int) error {
	refuse := func(advice, why string, values ...any) error {
		return fault.WithKind(fault.Usage, fault.WithHint(fmt.Errorf(why, values...), advice))
	}
	again := fmt.Sprintf("First: %s. Then compare with the results.json of that.", measuring(older.Command))
	switch {
	case older.Kind != r.Kind:
		return refuse("Compare with the results.json of this command.",
			"the older run is of kind %q, this one of kind %q; expected a run of the same command", older.Kind, r.Kind)
	case older.Quick:
		return refuse(again, "the older run is a quick look, whose turns are too short to be compared")
	case older.rounds() < leastRounds:
		return refuse(again, "the older run has %s; of so few chance cannot be told from change, which takes %d",
			trial.Counted(older.rounds(), "round"), leastRounds)
	case r.Quick:
		return refuse("Run the same without --quick.", "a quick look has turns that are too short to be compared")
	case rounds < leastRounds:
		return refuse(fmt.Sprintf("Run the same with --rounds %d or more.", leastRounds),
			"--rounds is %d; of so few chance cannot be told from change, which takes %d", rounds, leastRounds)
	}
	var differ []string
	for _, name := range slices.Sorted(maps.Keys(r.Settings)) {
		if before, now := older.Settings[name], r.Settings[name]; before != "" && before != now {
			differ = append(differ, fmt.Sprintf("%s: %s → %s", name, before, now))
		}
	}
	if len(differ) > 0 {
		return refuse(fmt.Sprintf("Run what the older run was, with --compare: %s.", older.Command),
			"the settings are not those of the older run, so speeds would differ by them: %s",
			strings.Join(differ, "; "))
	}
	return nil
}

// The parts of a command line that concern only one run, and those that a quick look adds.
var (
	ending  = regexp.MustCompile(` --rounds \d+ --seed \d+$`)
	quickly = regexp.MustCompile(`( --quick\b.*) --clients \S+ --duration \S+ --warm-up \S+$`)
)

// measuring is a command line with enough rounds for a measurement, and with results.
func measuring(command string) string {
	command = quickly.ReplaceAllString(ending.ReplaceAllString(command, ""), "$1")
	return strings.Replace(command, " --quick", "", 1) + " --out DIR"
}

// Shares refuses a comparison if the older run has none of the trials to come.
func (r *Report) Shares(trials []trial.Trial) error {
	for _, t := range trials {
		for _, f := range r.Figures {
			if f.Workload == t.Workload.Name && f.Contender == t.Contender {
				return nil
			}
		}
	}
	return fault.WithKind(fault.Usage, fault.WithHint(
		fmt.Errorf("the older run has none of the %d trials to come", len(trials)),
		"Run what the older run was, with --compare: "+r.Command+"."))
}
