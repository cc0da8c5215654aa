package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgflurry/bench/report"
	"pgflurry/bench/suites/inprocess"
	"pgflurry/internal/fault"
	"pgflurry/tests/support/prose"
)

// runCommand runs the command inprocess with these flags.
func runCommand(ctx context.Context, flags []string, out, progress io.Writer) error {
	root := newRoot()
	root.SetArgs(append([]string{"inprocess"}, flags...))
	root.SetOut(out)
	root.SetErr(progress)
	return root.ExecuteContext(ctx)
}

func results(t *testing.T, folder string) (r report.Report) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestARunReportsEverySourceAtEveryNumberOfGoroutines(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	var out bytes.Buffer
	if err := runCommand(t.Context(), []string{
		"--rounds", "1", "--duration", "2ms", "--warm-up", "0", "--clients", "1,2", "--seed", "7", "--out", folder,
	}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	r := results(t, folder)
	if !strings.Contains(r.Command, "inprocess --clients 1,2 --duration 2ms --warm-up 0s --rounds 1 --seed 7") {
		t.Errorf("command %q", r.Command)
	}
	for _, of := range append(inprocess.Libraries, "pgflurry-bench") {
		if r.Versions[of] == "" {
			t.Errorf("%s has no version: %v", of, r.Versions)
		}
	}
	p, err := inprocess.Plan([]int{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range p.Trials {
		at := slices.IndexFunc(r.Figures, func(f report.Figure) bool {
			return f.Workload == one.Workload.Name && f.Contender == one.Contender
		})
		if at < 0 {
			t.Errorf("%s, %s has no figure", one.Workload.Name, one.Contender)
			continue
		}
		if f := r.Figures[at]; f.Also["processors busy"].N != 1 {
			t.Errorf("%s: processors busy was not measured", f.Contender)
		}
	}
	for _, claim := range []string{
		"a call, 1 goroutine: processor time of `Next`, in readings of the clock",
		"a call, 1 goroutine: `NextN`, millions of IDs a second",
		"a call, 2 goroutines: throughput of `Next` to that of xid",
		"at the layout's limit, 2 goroutines: processors busy",
		"at the layout's limit, 1 goroutine: share of the layout's 4,096 IDs a tick",
	} {
		if !slices.ContainsFunc(r.Verdicts, func(v report.Verdict) bool { return v.Claim == claim }) {
			t.Errorf("no verdict on %q", claim)
		}
	}
	for _, want := range []string{"cpu to one reading of the clock", "seed 7", "processors busy"} {
		if !strings.Contains(strings.ToLower(out.String()), want) {
			t.Errorf("the terminal lacks %q:\n%s", want, out.String())
		}
	}
	for _, name := range []string{"results.md", "throughput-a-call-1-goroutine.svg"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestARunThatIsInterruptedWritesWhatIsFinishedAndSaysSo(t *testing.T) {
	folder := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	// The second round is announced when the first has ended.
	progress := writer(func(line string) {
		if strings.HasPrefix(line, "round 2 of 3;") {
			cancel()
		}
	})
	if err := runCommand(ctx, []string{
		"--rounds", "3", "--duration", "1ms", "--warm-up", "0", "--clients", "1", "--out", folder,
	}, io.Discard, progress); err == nil {
		t.Error("no error")
	}
	p, err := inprocess.Plan([]int{1})
	if err != nil {
		t.Fatal(err)
	}
	if r := results(t, folder); r.Incomplete == "" || len(r.Samples) != len(p.Trials) {
		t.Errorf("incomplete %q, %d samples of %d trials", r.Incomplete, len(r.Samples), len(p.Trials))
	}
}

type writer func(string)

func (w writer) Write(p []byte) (int, error) {
	w(string(p))
	return len(p), nil
}

func TestWhatCannotBeMeasuredIsRefusedAndNothingIsWritten(t *testing.T) {
	for flag, bad := range map[string]string{
		"--clients": "1,0", "--rounds": "0", "--duration": "0s", "--warm-up": "-1s", "--seed": "x",
	} {
		folder := filepath.Join(t.TempDir(), "out")
		err := runCommand(t.Context(), []string{flag, bad, "--out", folder}, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), strings.TrimLeft(flag, "-")) {
			t.Errorf("%s %s: %v", flag, bad, err)
		}
		if _, err := os.Stat(folder); err == nil {
			t.Errorf("%s %s: the folder was made", flag, bad)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := runCommand(t.Context(), []string{
		"--rounds", "1", "--duration", "2ms", "--warm-up", "0", "--clients", "1",
		"--out", file,
	}, writer(func(said string) {
		t.Errorf("it measures, though the results cannot be written: %s", said)
	}), io.Discard)
	if err == nil || !strings.Contains(err.Error(), "--out") {
		t.Errorf("--out is a file: %v", err)
	}
	for _, bad := range []string{"more", "--more"} {
		err := runCommand(t.Context(), []string{bad}, io.Discard, io.Discard)
		if fault.KindOf(err) != fault.Usage ||
			!strings.Contains(fault.HintOf(err), `"pgflurry-bench inprocess --help"`) {
			t.Errorf("%s: %v; hint: %s", bad, err, fault.HintOf(err))
		}
	}
}

func TestSentencesOfHelpAreShort(t *testing.T) { prose.CheckHelp(t, newRoot()) }
