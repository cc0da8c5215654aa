package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgflurry/bench"

	"github.com/bwmarrin/snowflake"
	"github.com/google/uuid"
)

// all are the ways of both tasks but for the clocks, which make no IDs.
func all(t *testing.T) []way {
	t.Helper()
	call, limit, err := ways()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(slices.Concat(call, limit), func(w way) bool { return !ours(w.name) && !rival(w.name) })
}

func TestRule1WhatIsCountedWasMadeAndNoWayMakesAnIDTwice(t *testing.T) {
	for _, w := range all(t) {
		t.Run(w.name, func(t *testing.T) {
			calls := 500
			if w.alone {
				calls = 2 // sleeps before each
			}
			if w.set != nil {
				w.set()
				defer w.reset()
			}
			seen := make(map[any]bool)
			for range calls {
				m, err := w.many(1)
				if err != nil {
					t.Fatal(err)
				}
				if seen[m.last] {
					t.Fatalf("%v came twice", m.last)
				}
				seen[m.last] = true
				want := map[string]int{nextNName: runLength}[w.name]
				if w.alone {
					want = sonyflakeBurst
				}
				if m.ids != max(want, 1) {
					t.Errorf("one call counts as %d IDs", m.ids)
				}
			}
		})
	}
}

// counted is a source of randomness that counts what it gives.
type counted int

func (c *counted) Read(p []byte) (int, error) {
	*c += counted(len(p))
	return rand.Read(p)
}

func TestRule2ALibrarysSettingsStayAsTheyCame(t *testing.T) {
	p, err := plan([]int{1})
	if err != nil {
		t.Fatal(err)
	}
	var given counted
	uuid.SetRand(&given)
	defer uuid.SetRand(nil)
	for _, trial := range p.Trials {
		if _, err := trial.Run(t.Context(), time.Nanosecond, bench.Unwatched); err != nil {
			t.Fatal(err)
		}
		if snowflake.NodeBits != 10 || snowflake.StepBits != 12 {
			t.Fatalf("%s leaves bwmarrin/snowflake with %d + %d bits", trial.Contender, snowflake.NodeBits, snowflake.StepBits)
		}
		given = 0
		if _, err := uuid.NewRandom(); err != nil {
			t.Fatal(err)
		}
		if given != 16 { // a pool takes more at once, or nothing
			t.Fatalf("%s leaves google/uuid with a pool: %d bytes for the next UUID, expected 16", trial.Contender, given)
		}
	}
}

func results(t *testing.T, folder string) (r bench.Report) {
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

func TestARunReportsEveryWayAtEveryNumberOfGoroutines(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--rounds", "1", "--duration", "2ms", "--warm-up", "0", "--goroutines", "1,2", "--seed", "7", "--out", folder}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	r := results(t, folder)
	if r.Kind != bench.KindInProcess || !strings.Contains(r.Command, "--goroutines 1,2 --rounds 1 --duration 2ms --warm-up 0s --seed 7") {
		t.Errorf("kind %q, command %q", r.Kind, r.Command)
	}
	p, err := plan([]int{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range p.Trials {
		at := slices.IndexFunc(r.Figures, func(f bench.Figure) bool {
			return f.Workload == trial.Workload.Name && f.Contender == trial.Contender
		})
		if at < 0 {
			t.Errorf("%s, %s has no figure", trial.Workload.Name, trial.Contender)
			continue
		}
		if f := r.Figures[at]; f.Busy == nil {
			t.Errorf("%s: processors busy was not measured", f.Contender)
		}
	}
	for _, claim := range []string{
		"a call, 1 goroutine: processor time of pgflurry `Next`, in readings of the clock",
		"a call, 1 goroutine: processor time of pgflurry `TryNextN(1)`, as the proxy draws, in readings of the clock",
		"a call, 1 goroutine: processor time of pgflurry `Next`, a clock of one line, in readings of the clock",
		"a call, 1 goroutine: throughput of `Next` to that of sonyflake, in bursts of 200", "a call, 1 goroutine: `NextN`, millions of IDs a second",
		"a call, 2 goroutines: throughput of `Next` to that of xid", "at the layout's limit, 2 goroutines: processors busy", "at the layout's limit, 1 goroutine: share of the layout's 4,096 IDs a tick",
	} {
		if !slices.ContainsFunc(r.Verdicts, func(v bench.Verdict) bool { return v.Claim == claim }) {
			t.Errorf("no verdict on %q", claim)
		}
	}
	for _, want := range []string{"the same in readings of the clock", "seed 7", "processors busy"} {
		if !strings.Contains(strings.ToLower(out.String()), want) {
			t.Errorf("the terminal lacks %q:\n%s", want, out.String())
		}
	}
	for _, name := range []string{"results.md", "throughput-a-call.svg", "throughput-at-the-layout-s-limit.png", "goroutines-a-call.svg"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestRule3ARunThatIsInterruptedWritesWhatIsFinishedAndSaysSo(t *testing.T) {
	folder := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	// The second round is announced when the first is over.
	progress := writer(func(line string) {
		if strings.HasPrefix(line, "round 2 of 3;") {
			cancel()
		}
	})
	if err := run(ctx, []string{"--rounds", "3", "--duration", "1ms", "--warm-up", "0", "--goroutines", "1", "--out", folder}, io.Discard, progress); err == nil {
		t.Error("no error")
	}
	p, err := plan([]int{1})
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
	for flag, bad := range map[string]string{"--goroutines": "1,0", "--rounds": "0", "--duration": "0s", "--warm-up": "-1s", "--seed": "x"} {
		folder := filepath.Join(t.TempDir(), "out")
		err := run(t.Context(), []string{flag, bad, "--out", folder}, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), strings.TrimLeft(flag, "-")) {
			t.Errorf("%s %s: %v", flag, bad, err)
		}
		if _, err := os.Stat(folder); err == nil {
			t.Errorf("%s %s: the folder was made", flag, bad)
		}
	}
	if err := run(t.Context(), []string{"more"}, io.Discard, io.Discard); err == nil {
		t.Error("an argument that is no flag is taken")
	}
}

func TestVersionsOfAllLibrariesAreTold(t *testing.T) {
	r, err := head(settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range append(rivals, "pgflurry") {
		if r.Versions[of] == "" {
			t.Errorf("%s has no version: %v", of, r.Versions)
		}
	}
}
