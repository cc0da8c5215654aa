package charts

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgflurry/bench/report"
	"pgflurry/bench/trial"
)

// replaced writes a report with a sample into a folder, and lists the folder.
func replaced(t *testing.T, r *report.Report, folder string) []string {
	t.Helper()
	r.Samples = []trial.Sample{{Workload: "w", Contender: "c", Round: 1}}
	var said bytes.Buffer
	if err := WriteResults(r, folder, &said); err != nil ||
		!strings.Contains(said.String(), filepath.Join(folder, "results.md")) {
		t.Fatalf("error %v, said %q", err, said.String())
	}
	return names(t, folder)
}

func names(t *testing.T, folder string) (all []string) {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		all = append(all, file.Name())
	}
	return all
}

func TestResultsReplaceThoseBeforeThemChartsAndAll(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	first := replaced(t, sampleReport(), folder)
	if len(first) != 2+2*5 || !slices.Contains(first, "cpu-batch-prepared.svg") {
		t.Fatalf("%v; expected results.md, results.json and 5 charts", first)
	}
	if err := os.WriteFile(filepath.Join(folder, "cpu-of-mine.svg"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r := sampleReport()
	r.Figures = r.Figures[:4]
	r.Title = "Another run"
	want := []string{
		"clients-one-by-one.png", "clients-one-by-one.svg", "cpu-of-mine.svg", "latency-one-by-one.png",
		"latency-one-by-one.svg", "results.json", "results.md", "throughput-one-by-one.png",
		"throughput-one-by-one.svg",
	}
	if got := replaced(t, r, folder); !slices.Equal(got, want) {
		t.Errorf("%v; expected %v: no chart of the run before, and what is not of it", got, want)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "results.md")); err != nil ||
		!strings.Contains(string(text), "Another run") {
		t.Errorf("results.md is not replaced (error %v)", err)
	}
}

// untouched puts results into a folder. The function says whether the folder still has exactly these.
func untouched(t *testing.T, folder string) func() bool {
	t.Helper()
	before := replaced(t, sampleReport(), folder)
	old, err := os.ReadFile(filepath.Join(folder, resultsJSON))
	if err != nil {
		t.Fatal(err)
	}
	return func() bool {
		now, err := os.ReadFile(filepath.Join(folder, resultsJSON))
		return err == nil && bytes.Equal(old, now) && slices.Equal(before, names(t, folder))
	}
}

func TestAReportThatMeasuredNothingReplacesNoResults(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	same := untouched(t, folder)
	if err := WriteResults(&report.Report{Incomplete: "interrupted"}, folder, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "nothing was measured") || !same() {
		t.Errorf("error %v, or older results were touched", err)
	}
}

func TestResultsThatCannotBeWrittenLeaveThoseBeforeThemAsTheyWere(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	same := untouched(t, folder)
	r := sampleReport()
	r.Samples = []trial.Sample{{Workload: "w", Contender: "c", Round: 2}}
	r.Figures[0].Task = strings.Repeat("a task whose name is too long for a file ", 10)
	r.Figures[1].Task = r.Figures[0].Task
	if err := WriteResults(r, folder, io.Discard); err == nil || !same() {
		t.Errorf("error %v, or older results were touched", err)
	}
}
