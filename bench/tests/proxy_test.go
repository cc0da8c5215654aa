// Package tests runs pgflurry-bench as a user does, for a few seconds. It checks the reports, not the speed.
package tests

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgflurry/bench/report"
	"pgflurry/bench/suites"
	"pgflurry/bench/trial"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

var binary string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "pgflurry-bench-test-")
	if err == nil {
		binary = filepath.Join(folder, "pgflurry-bench")
		var out []byte
		if out, err = exec.Command("go", "build", "-o", binary, "pgflurry/bench/cmd/pgflurry-bench").
			CombinedOutput(); err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pgflurry-bench cannot be built:", err)
		os.Exit(1)
	}
	code := server.Run(m)
	os.RemoveAll(folder)
	os.Exit(code)
}

// command is a command without warm-up that writes its results to a folder.
func command(t *testing.T, out string, args ...string) *exec.Cmd {
	t.Helper()
	server.Binaries(t)
	return exec.Command(binary, append(args, "--out", out, "--pgflurry", program.Path(t), "--warm-up", "0")...)
}

// measured runs a command to its end, even on a busy machine, and returns its output.
func measured(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	said, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", c.Args, err, said)
	}
	return string(said)
}

func TestTheProxyBenchmarkReportsEveryWorkloadForEveryContender(t *testing.T) {
	for workloads, count := range map[string]int{"select,pipelined": 4, "copy": 2} {
		t.Run(workloads, func(t *testing.T) { reportsEveryContender(t, workloads, count) })
	}
}

func reportsEveryContender(t *testing.T, workloads string, count int) {
	t.Parallel()
	out := t.TempDir()
	said := measured(t, command(t, out, "proxy", "--workloads", workloads, "--clients", "2", "--rounds", "1",
		"--duration", "1s", "--seed", "1"))
	r := read(t, out)
	contenders := []string{report.Direct, report.PgBouncer, report.HAProxy, suites.Pgflurry}
	if len(r.NotRun) > 0 {
		if os.Getenv("PGFLURRY_TEST_POOLER") == "1" {
			t.Fatalf("not run: %v", r.NotRun)
		}
		contenders = slices.DeleteFunc(contenders, func(name string) bool {
			return slices.ContainsFunc(r.NotRun, func(why string) bool { return strings.HasPrefix(why, name+": ") })
		})
	}
	cells := make(map[string]bool)
	for _, f := range r.Figures {
		cells[f.Workload+", "+f.Contender] = true
		_, front := f.CPU[trial.Middle]
		_, database := f.CPU[trial.Database]
		if f.PerSecond.Median <= 0 || f.PerSecond.N != 1 || !database || front != (f.Contender != report.Direct) {
			t.Errorf("incomplete: %+v", f)
		}
	}
	if len(cells) != count*len(contenders) || len(r.Figures) != len(cells) || r.Incomplete != "" {
		t.Errorf("%d figures in %d cells, incomplete: %q; expected %d workloads, each of %d contenders",
			len(r.Figures), len(cells), r.Incomplete, count, len(contenders))
	}
	text, err := os.ReadFile(filepath.Join(out, "results.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Figures {
		if row := "| " + f.Workload + " | " + f.Contender + " | "; !strings.Contains(string(text), row) {
			t.Errorf("results.md lacks %q", row)
		}
	}
	if charts, _ := filepath.Glob(filepath.Join(out, "throughput-*.svg")); len(charts) != count {
		t.Errorf("charts %v; expected one a workload", charts)
	}
	if !strings.Contains(said, "--seed 1") || !strings.Contains(said, r.Versions["PostgreSQL"]) {
		t.Error("seed and versions are not printed")
	}
}

func TestWhatCannotBeMeasuredIsRefusedBeforeAnythingStarts(t *testing.T) {
	for args, want := range map[string]string{
		"proxy --workloads select,magic": `"magic"`, "proxy --clients 0": "1 to 200", "proxy --rounds 0": "at least 1",
		"proxy --duration 1500ms": "multiple of 1s", "run --duration 500ms": "multiple of 1s",
		"run --clients 300": "1 to 200", "run --sources nextval,magic": `"magic"`,
		"run --redis redis://127.0.0.1:1": "--postgres is missing",
		"insert --rows 1500":              "multiple of 1000",
		"proxy --warm-up -1s":             "0 or a multiple of 1s", "proxy --warm-up 500ms": "0 or a multiple of 1s",
		"proxy --clients 16,1,16": "has 16 twice", "run --workloads cold,bulk,cold": `has cold twice`,
		"run --sources nextval,nextval":     `has nextval twice`,
		"proxy --pgflurry /no/such/program": "/no/such/program",
	} {
		out, err := exec.Command(binary, strings.Fields(args)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) || strings.Contains(string(out), "starting") {
			t.Errorf("%s: error %v, said %q; expected %q", args, err, out, want)
		}
	}
}

func read(t *testing.T, out string) *report.Report {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(out, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r report.Report
	if err := json.Unmarshal(content, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}
