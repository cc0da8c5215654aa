package bench

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

func TestAReportInProcessTellsReadingsOfTheClockProcessorsBusyAndTies(t *testing.T) {
	trial := func(contender string, operations int64, spent map[string]time.Duration) Trial {
		return Trial{Workload: Workload{Name: "w"}, Contender: contender, Run: func(context.Context, time.Duration, Measure) (Count, error) {
			return Count{Operations: operations, Elapsed: 100 * time.Millisecond, Spent: spent}, nil
		}}
	}
	trials := []Trial{
		trial(ClockReading, 4_000_000, map[string]time.Duration{Self: 100 * time.Millisecond}),
		trial("an ID", 2_000_000, map[string]time.Duration{Self: 30 * time.Millisecond}),
		trial("a burst", 1_000_000, nil),
	}
	samples, err := Run(t.Context(), Plan{Trials: trials, Rounds: 1, Duration: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	r := &Report{Kind: KindInProcess, Samples: samples, Figures: Tabulate(trials, samples, []string{ClockReading}), Verdicts: []Verdict{
		AtMost("low", Spread{1.1, 1.2, 1.4, 9}, 1.3), AtMost("not low", Spread{1.2, 1.4, 1.5, 9}, 1.3),
		Faster("faster", Spread{1.01, 1.2, 1.4, 9}), Faster("no faster", Spread{0.99, 1.01, 1.03, 9}), Faster("slower", Spread{0.8, 0.9, 0.99, 9}),
	}}
	var md, table bytes.Buffer
	if err := r.WriteMarkdown(&md); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| w | one reading of the clock | 40,000,000 (40,000,000 – 40,000,000) | 25 | – | 1.00 (1.00 – 1.00) |",
		"| w | an ID | 20,000,000 (20,000,000 – 20,000,000) | 15 | 0.60 (0.60 – 0.60) | 0.30 (0.30 – 0.30) |",
		"| w | a burst | 10,000,000 (10,000,000 – 10,000,000) | not measured | – | not measured |",
		"| low | 1.20 (1.10 – 1.40) | ≤ 1.30 | reached |", "| not low | 1.40 (1.20 – 1.50) | ≤ 1.30 | missed |",
		"| faster | 1.20 (1.01 – 1.40) | > 1.00 | reached |", "| no faster | 1.01 (0.99 – 1.03) | > 1.00 | equal |", "| slower | 0.90 (0.80 – 0.99) | > 1.00 | missed |",
	} {
		if !strings.Contains(md.String(), want) {
			t.Errorf("results.md lacks %q:\n%s", want, md.String())
		}
	}
	if want := "ns of CPU, each"; !strings.Contains(table.String(), want) {
		t.Errorf("the table lacks %q:\n%s", want, table.String())
	}
}
