package report

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgflurry/bench/statistics"
	"pgflurry/bench/trial"
)

// ofRoundsAlike is a report of a kind with all possible figures, the same in each round.
func ofRoundsAlike(kind string, rounds int) *Report {
	spread := statistics.SpreadOf(make([]float64, rounds)).Times(1)
	each := map[string]statistics.Spread{
		Nextval: spread, Direct: spread, PgBouncer: spread, Redis: spread, ClockReading: spread,
	}
	trips := map[string]statistics.Spread{trial.Mean: spread, "p50": spread, "p99": spread, "p99.9": spread}
	figure := Figure{
		Workload: "w", Task: "w", Contender: "A", Counts: "IDs", PerSecond: spread, Ratios: each, CPURatios: each,
		CPU: map[string]statistics.Spread{trial.Self: spread}, ServerCPU: &spread, Busy: &spread, Latency: trips,
		WAL: &spread, Index: &spread, Memory: &spread,
	}
	connecting, drawing := figure, figure
	connecting.Workload, connecting.Counts, connecting.Memory = "c", "connections", nil
	drawing.Workload, drawing.Memory = "d", nil
	return &Report{
		Kind: kind, Began: time.Unix(0, 0), Figures: []Figure{figure, connecting, drawing},
		Verdicts: []Verdict{AtLeast("fast", spread, 1), AtMost("slim", spread, 1), Faster("faster", spread)},
	}
}

var quartiles = regexp.MustCompile(`\d – [<\d]`)

func TestAFigureOfOneRoundShowsNoQuartiles(t *testing.T) {
	for _, kind := range []string{
		KindPassThrough, KindIDs, KindInserts, KindTargets, KindInProcess, KindConnections,
	} {
		for rounds := 1; rounds <= 2; rounds++ {
			r := ofRoundsAlike(kind, rounds)
			for what, write := range map[string]func(*bytes.Buffer) error{
				"results.md":   func(b *bytes.Buffer) error { return r.WriteMarkdown(b) },
				"the table":    func(b *bytes.Buffer) error { return r.WriteTable(b) },
				"results.json": func(b *bytes.Buffer) error { return r.WriteJSON(b) },
			} {
				var b bytes.Buffer
				if err := write(&b); err != nil {
					t.Fatal(err)
				}
				text := strings.ToLower(b.String())
				has := quartiles.MatchString(text) || strings.Contains(text, "quartile") ||
					strings.Contains(text, "median ")
				if has != (rounds > 1) {
					t.Errorf("%s, %s of %d rounds: quartiles %v:\n%s", kind, what, rounds, has, b.String())
				}
			}
		}
	}
}

func TestWhatHasToBeFasterIsNotJudgedByOneRound(t *testing.T) {
	v := Faster("faster", statistics.SpreadOf([]float64{2}))
	if v.Holds() || v.word() != "not judged: one round" {
		t.Errorf("%+v: holds %v, %q", v, v.Holds(), v.word())
	}
}

func TestAFigureOfOneRoundIsTheSameWhenItIsReadFromResultsJSON(t *testing.T) {
	for _, values := range [][]float64{{7}, {7, 9}, {}} {
		before := statistics.SpreadOf(values)
		text, err := json.Marshal(before)
		if err != nil {
			t.Fatal(err)
		}
		var after statistics.Spread
		if err := json.Unmarshal(text, &after); err != nil || after != before {
			t.Errorf("%s is read as %+v (error %v); expected %+v", text, after, err, before)
		}
	}
}
