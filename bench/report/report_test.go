package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgflurry/bench/trial"
)

// drifting is a machine that slows down: in each round B does twice what A does, whatever the round. A round of B is
// missing.
func drifting() *Report {
	w := trial.With("work", 2, "client", "IDs")
	trials := []trial.Trial{{Workload: w, Contender: Nextval}, {Workload: w, Contender: "B", Through: true}}
	sample := func(contender string, round int, operations int64) trial.Sample {
		return trial.Sample{Workload: w.Name, Contender: contender, Round: round, Count: trial.Count{
			Operations: operations, Elapsed: time.Second, Also: map[string]float64{"WAL bytes, each": 2},
			Spent:   map[string]time.Duration{trial.Database: time.Duration(operations) * 3 * time.Microsecond},
			Latency: map[string]time.Duration{"mean": time.Millisecond},
		}}
	}
	r := &Report{
		Title: "A title", Command: "a command", Began: time.Unix(0, 0), NotRun: []string{"PgBouncer: it is not here"},
		Incomplete: "context canceled, after 5 of 6 turns", Samples: []trial.Sample{
			sample(Nextval, 1, 4000), sample("B", 1, 8000), sample(Nextval, 2, 1000), sample("B", 2, 2000),
			sample(Nextval, 3, 100),
		},
	}
	delete(r.Samples[1].Spent, trial.Database)
	r.Figures = Tabulate(trials, r.Samples, []string{Nextval})
	r.Verdicts = []Verdict{
		AtLeast("w: B to nextval", r.Figures[1].Ratios[Nextval], 2), AtMost("too much", SpreadOf([]float64{3}), 2),
	}
	return r
}

func TestRule3ARatioIsTheMedianOfTheRatiosRoundByRound(t *testing.T) {
	f := drifting().Figures[1]
	if r := f.Ratios[Nextval]; r.Median != 2 || r.Low != 2 || r.High != 2 || r.N != 2 {
		t.Errorf("%+v; expected 2 in both rounds that both have finished", r)
	}
	if c := f.CPURatios[Nextval]; c.Median != 1 || c.N != 1 {
		t.Errorf("of processor time %+v; expected 1, of the only round in which both were measured", c)
	}
}

func TestTheTableHasWhatWasMeasuredAndSaysWhatWasNot(t *testing.T) {
	r := drifting()
	folder := t.TempDir()
	old := filepath.Join(folder, "throughput-old.svg")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var said, table bytes.Buffer
	if err := r.Write(folder, &said); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(filepath.Join(folder, "results.md"))
	for _, want := range []string{
		"Not run: PgBouncer: it is not here.", "**Incomplete:** context canceled, after 5 of 6 turns.",
		"| nextval | 1,000 (550 – 2,500) | – | 1,000 (1,000 – 1,000) | 3 (3 – 3) | 3 (3 – 3) | – | 2 (2 – 2) |",
		"| B | 5,000 (3,500 – 6,500) | 2.00 (2.00 – 2.00) | 1,000 (1,000 – 1,000) | 3 | 3 | 1.00 | 2 (2 – 2) |",
		"| w: B to nextval | 2.00 (2.00 – 2.00) | ≥ 2.00 | reached |", "| too much | 3.00 | ≤ 2.00 | missed |",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("results.md lacks %q:\n%s", want, text)
		}
	}
	if !strings.Contains(table.String(), "WAL bytes, each") || !strings.Contains(table.String(), "missed") {
		t.Errorf("the table for a terminal: %s", table.String())
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("a chart of an earlier run is left")
	}
	chart, err := os.ReadFile(filepath.Join(folder, "throughput-work-2-clients.svg"))
	if err != nil || !strings.Contains(string(chart), "B  5,000") || !strings.Contains(string(chart), "incomplete") {
		t.Errorf("the chart does not name its contenders and its run: %v, %.300s", err, chart)
	}
}

func TestResultsJSONHoldsAllThatTheTableIsMadeFrom(t *testing.T) {
	r, back := drifting(), new(Report)
	folder := t.TempDir()
	if err := r.Write(folder, new(bytes.Buffer)); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(folder, "results.json"))
	if err == nil {
		err = json.Unmarshal(content, back)
	}
	if err != nil || back.markdown() != r.markdown() || len(back.Samples) != len(r.Samples) {
		t.Errorf("error %v; from results.json:\n%s", err, back.markdown())
	}
	nothing := &Report{Title: "nothing"}
	if err := nothing.Write(folder, new(bytes.Buffer)); err != nil {
		t.Fatal(err)
	}
	if again, _ := os.ReadFile(filepath.Join(folder, "results.json")); !bytes.Equal(again, content) {
		t.Error("a report without a sample has replaced another")
	}
}

func TestAQuickLookShowsTheOpenLoopBesideTheClosedOneInAHundredColumns(t *testing.T) {
	r := drifting()
	open := r.Figures[1]
	open.Task += OpenLoop + "50 %"
	open.Latency = map[string]Spread{"p50": SpreadOf([]float64{12_345}), "p99": SpreadOf([]float64{23_456_789})}
	r.Figures = append(r.Figures, open)
	r.Summary = strings.Repeat("word ", 40)
	var b bytes.Buffer
	if err := r.WriteQuick(&b); err != nil {
		t.Fatal(err)
	}
	fields := ""
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > screenColumns {
			t.Errorf("%d columns: %q", n, line)
		}
		if strings.HasPrefix(line, "B ") && fields == "" {
			fields = strings.Join(strings.Fields(line), " ")
		}
	}
	if fields != "B 5,000 12,345 23.5M 3 2.00" || !strings.Contains(b.String(), "████") {
		t.Errorf("%q:\n%s", fields, b.String())
	}
}

func TestNumbersAreShort(t *testing.T) {
	for f, want := range map[float64]string{0: "0", 999.4: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := Grouped(f); got != want {
			t.Errorf("%v is written %q; expected %q", f, got, want)
		}
	}
	for f, want := range map[float64]string{0: "0", -0.3: "< 0.01", 0.00412: "0.00412", 12.34: "12.3", 4321: "4,321"} {
		if got := small(f); got != want {
			t.Errorf("%v is written %q; expected %q", f, got, want)
		}
	}
}
