package report

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"pgflurry/bench/trial"
)

func TestAReportInProcessHasReadingsOfTheClockProcessorsBusyAndTies(t *testing.T) {
	scripted := func(contender string, operations int64, spent map[string]time.Duration) trial.Trial {
		return trial.Trial{
			Workload: trial.Workload{Name: "w"}, Contender: contender,
			Run: func(context.Context, time.Duration, trial.Measure) (trial.Count, error) {
				return trial.Count{Operations: operations, Elapsed: 100 * time.Millisecond, Spent: spent}, nil
			},
		}
	}
	trials := []trial.Trial{
		scripted(ClockReading, 4_000_000, map[string]time.Duration{trial.Self: 100 * time.Millisecond}),
		scripted("an ID", 2_000_000, map[string]time.Duration{trial.Self: 30 * time.Millisecond}),
		scripted("a burst", 1_000_000, nil),
	}
	samples, err := trial.Run(t.Context(), trial.Plan{Trials: trials, Rounds: 1, Duration: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	r := &Report{
		Kind: KindInProcess, Samples: samples, Figures: Tabulate(trials, samples, []string{ClockReading}),
		Verdicts: []Verdict{
			AtMost("low", ofRounds(1.1, 1.2, 1.4, 9), 1.3), AtMost("not low", ofRounds(1.2, 1.4, 1.5, 9), 1.3),
			Faster("faster", ofRounds(1.01, 1.2, 1.4, 9)), Faster("no faster", ofRounds(0.99, 1.01, 1.03, 9)),
			Faster("slower", ofRounds(0.8, 0.9, 0.99, 9)),
		},
	}
	var md, table bytes.Buffer
	if err := r.WriteMarkdown(&md); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| w | one reading of the clock | 40,000,000 | 25 | – | 1.00 |",
		"| w | an ID | 20,000,000 | 15 | 0.60 | 0.30 |",
		"| w | a burst | 10,000,000 | not measured | – | not measured |",
		"| low | 1.20 (1.10 – 1.40) | ≤ 1.30 | reached |", "| not low | 1.40 (1.20 – 1.50) | ≤ 1.30 | missed |",
		"| faster | 1.20 (1.01 – 1.40) | > 1.00 | reached |", "| no faster | 1.01 (0.99 – 1.03) | > 1.00 | equal |",
		"| slower | 0.90 (0.80 – 0.99) | > 1.00 | missed |",
	} {
		if !strings.Contains(md.String(), want) {
			t.Errorf("results.md lacks %q:\n%s", want, md.String())
		}
	}
	if want := "ns of CPU, each"; !strings.Contains(table.String(), want) {
		t.Errorf("the table lacks %q:\n%s", want, table.String())
	}
}
