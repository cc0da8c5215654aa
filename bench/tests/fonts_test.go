package tests

import (
	_ "embed" // the script
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgflurry/bench/charts"
	"pgflurry/bench/report"
	"pgflurry/bench/statistics"
	"pgflurry/bench/trial"
	"pgflurry/tests/support/browser"
)

//go:embed fonts_test.js
var misplacedTexts string

// fonts that a reader may have instead of the chart's own: the widest common one, the narrowest, and one with serifs.
// Verdana's letters are as wide as those of DejaVu Sans.
var fonts = []string{"Liberation Sans", "DejaVu Sans", "Liberation Sans Narrow", "DejaVu Serif"}

var families = regexp.MustCompile(`font-family:[^;]*;`)

// longReport has the longest names and captions, and everything that can be drawn.
func longReport() *report.Report {
	r := &report.Report{
		Kind: report.KindIDs, Samples: []trial.Sample{{Round: 1}}, Incomplete: strings.Repeat("it ended early, ", 20),
		Machine: report.Machine{
			Processor: "A Processor With a Name (tm) of 64 Letters @ 3.00 GHz", CPUs: 192, System: "Linux",
		},
	}
	task := "one per round trip, beside clients that draw 10,000 a statement, and some more words"
	for i := range 12 {
		for _, clients := range []int{1, 16, 64} {
			around := func(f float64) statistics.Spread { return statistics.SpreadOf([]float64{f, f * 1.1, f * 1.3}) }
			each := around(float64(i*i + 1))
			r.Figures = append(r.Figures, report.Figure{
				Task: task, Workload: fmt.Sprintf("%s, %d clients", task, clients), Clients: clients, Counts: "IDs",
				Contender: fmt.Sprintf("next_snowflakes(1000), function number %d in the database", i+1),
				PerSecond: around(float64(100_000 * (i + 1) * clients)), ServerCPU: &each, Index: &each, Memory: &each,
				Latency: map[string]statistics.Spread{
					trial.Mean: each, "p50": each, "p99": each.Times(30), "p99.9": each.Times(300),
				},
			})
		}
	}
	return r
}

// pictures are the charts in the documents, and those of a report with long names.
func pictures(t *testing.T) map[string]string {
	t.Helper()
	folder := t.TempDir()
	if err := charts.WriteResults(longReport(), folder, io.Discard); err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, from := range []string{folder, "../../docs/charts"} {
		paths, _ := filepath.Glob(filepath.Join(from, "*.svg"))
		if len(paths) < 4 {
			t.Fatalf("charts in %s: %v; expected four or more", from, paths)
		}
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all[filepath.Base(path)] = string(content)
		}
	}
	return all
}

func TestTextsOfAChartStayApartAndInsideWithoutTheFontThatItWasMadeWith(t *testing.T) {
	t.Parallel()
	chromium := browser.Start(t)
	all := pictures(t)
	var page strings.Builder
	page.WriteString("<!doctype html><meta charset=utf-8><style>:root{color-scheme:light dark}</style>")
	for _, font := range fonts {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			_, picture, _ := strings.Cut(all[name], "?>")
			if !strings.Contains(picture, ",sans-serif;") {
				t.Errorf("%s names no font that every reader has", name)
			}
			fmt.Fprintf(&page, "<p>%s\n<div id='%s in %s'>%s</div>", name, name, font,
				families.ReplaceAllLiteralString(picture, "font-family:'"+font+"';"))
		}
	}
	serving := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, asked *http.Request) {
		if asked.URL.Path == "/" {
			io.WriteString(w, page.String())
		} else {
			w.WriteHeader(http.StatusNoContent) // the browser asks for an icon
		}
	}))
	t.Cleanup(serving.Close)
	for name, dark := range map[string]bool{"charts-light": false, "charts-dark": true} {
		tab := chromium.Open(serving.URL+"/", browser.View{Dark: dark})
		for _, complaint := range browser.Evaluate[[]string](tab, misplacedTexts) {
			t.Error(complaint)
		}
		tab.Picture(name)
	}
}
