package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgflurry/bench/statistics"
	"pgflurry/bench/trial"
)

func sampleReport() *Report {
	trials, samples := drifting()
	trials[0].Contender, trials[1].Contender = Direct, "pgflurry"
	trials[1].Through = true
	for i := range samples {
		samples[i].Contender = map[string]string{"A": Direct, "B": "pgflurry"}[samples[i].Contender]
	}
	r := &Report{
		Kind: KindPassThrough, Title: "A title", Command: "a command", Began: time.Unix(0, 0), Samples: samples,
		NotRun: []string{"PgBouncer: it is not here"}, Incomplete: "context canceled, after 7 of 8 turns",
	}
	r.Figures = Tabulate(trials, samples, []string{Direct, PgBouncer})
	r.Verdicts = []Verdict{AtLeast("w: pgflurry to direct", r.Figures[1].Ratios[Direct], 0.9)}
	return r
}

func TestWhatWasNotMeasuredIsSaidToBeSo(t *testing.T) {
	var md, table bytes.Buffer
	r := sampleReport()
	if err := r.WriteMarkdown(&md); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Not run: PgBouncer: it is not here.", "**Incomplete:** context canceled, after 7 of 8 turns.",
		"| w | direct | 1,000 (550 – 2,500) | – | – | – | not measured | not measured |",
		"| w | pgflurry | 1,100 (150 – 3,500) | 2.00 (2.00 – 2.00) | – | 1.50 | not measured | 1.50 |",
		"| w: pgflurry to direct | 2.00 (2.00 – 2.00) | ≥ 0.90 | reached |",
	} {
		if !strings.Contains(md.String(), want) {
			t.Errorf("results.md lacks %q:\n%s", want, md.String())
		}
	}
	if !strings.Contains(table.String(), "not measured") {
		t.Errorf("the table does not say what was not measured:\n%s", table.String())
	}
}

func TestResultsJSONHoldsAllThatIsNeededToMakeTheTableAgain(t *testing.T) {
	var encoded, first, again bytes.Buffer
	r := sampleReport()
	if err := r.WriteJSON(&encoded); err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(encoded.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteMarkdown(&first); err != nil {
		t.Fatal(err)
	}
	if err := back.WriteMarkdown(&again); err != nil {
		t.Fatal(err)
	}
	if first.String() != again.String() || len(back.Samples) != len(r.Samples) ||
		back.Samples[1].CPU[trial.Middle] != 3*time.Millisecond {
		t.Errorf("from results.json:\n%s\ninstead of\n%s", again.String(), first.String())
	}
}

func TestDigitsAreGrouped(t *testing.T) {
	for f, want := range map[float64]string{0: "0", 999.4: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := Grouped(f); got != want {
			t.Errorf("%v is written %q; expected %q", f, got, want)
		}
	}
}

func TestAFigureThatTheDigitsCannotTellFromZeroIsNoZero(t *testing.T) {
	of := func(f float64) *statistics.Spread { return &statistics.Spread{Median: f} }
	for what, row := range map[string]struct{ got, want string }{
		"processor time": {
			spent(Figure{CPU: map[string]statistics.Spread{trial.Middle: *of(0.004)}}, trial.Middle), "< 0.01",
		},
		"a difference below zero":   {serverCPU(Figure{ServerCPU: of(-0.3)}), "< 0.01"},
		"bytes of the log":          {wal(Figure{WAL: of(0.004)}), "< 0.01"},
		"not a byte of the log":     {wal(Figure{WAL: of(0)}), "0"},
		"many bytes of the log":     {wal(Figure{WAL: of(197.891)}), "197.89"},
		"what has digits":           {serverCPU(Figure{ServerCPU: of(0.006)}), "0.01"},
		"a percentile not taken":    {trip(Figure{}, "p99"), "not measured"},
		"processor time not taken":  {serverCPU(Figure{}), "not measured"},
		"the log, not looked at":    {wal(Figure{}), "not measured"},
		"a percentile that is zero": {trip(Figure{Latency: map[string]statistics.Spread{"p99": {}}}, "p99"), "0"},
	} {
		if row.got != row.want {
			t.Errorf("%s: %q; expected %q", what, row.got, row.want)
		}
	}
}
