package console

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgflurry/bench/report"
	"pgflurry/bench/trial"
)

func turn(err error) trial.Turn {
	return func(context.Context, time.Duration, trial.Measure) (trial.Count, error) {
		return trial.Count{Operations: 1000, Elapsed: time.Second}, err
	}
}

func TestAJobTellsWhatItDoesWhereItIsAndWhatFailed(t *testing.T) {
	w := trial.Workload{Name: "w", Task: "w", Counts: "IDs"}
	job := Job{
		Plan: trial.Plan{Trials: []trial.Trial{
			{Workload: w, Contender: "good", Run: turn(nil)},
			{Workload: w, Contender: "bad", Run: turn(errors.New("no luck"))},
		}, Rounds: 2, Duration: time.Second, WarmUp: time.Second},
		Report: &report.Report{
			Kind: report.KindIDs, Title: "t", Command: "the command", Versions: map[string]string{"library": "v1"},
			Settings: map[string]string{"place": "here"},
		},
		Verdicts: func(_ []trial.Trial, figures []report.Figure) []report.Verdict {
			return []report.Verdict{report.AtLeast("speed", figures[0].PerSecond, 999)}
		},
		Out: filepath.Join(t.TempDir(), "new"),
	}
	var out, progress bytes.Buffer
	if err := job.Run(t.Context(), &out, &progress); err == nil ||
		!strings.Contains(err.Error(), "1 of 2 trials failed") {
		t.Errorf("error %v", err)
	}
	for text, all := range map[string][]string{
		out.String(): {
			"the command\n", "library: v1\n", "place: here\n", "2 trials, 2 rounds: about 6s\n", "speed", "written: ",
		},
		progress.String(): {
			"warm-up; about 6s left\n", "round 1 of 2; about ", "round 2 of 2; about ",
			"not run: w, bad: no luck (it failed in warm-up, and had no more turns)\n",
		},
	} {
		for _, want := range all {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in:\n%s", want, text)
			}
		}
	}
	if r := job.Report; len(r.Samples) != 2 || len(r.NotRun) != 1 ||
		!strings.Contains(r.Incomplete, "after 2 of 4 turns") {
		t.Errorf("%d samples, not run %v, incomplete %q", len(r.Samples), r.NotRun, r.Incomplete)
	}
	if _, err := os.Stat(filepath.Join(job.Out, "results.md")); err != nil {
		t.Error(err)
	}
}
