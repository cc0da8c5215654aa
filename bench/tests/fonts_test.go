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

// anySans ends a list of fonts with one that every reader has.
var anySans = regexp.MustCompile(`, ?sans-serif[;"]`)

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

// pictures are those with texts in the documents, and the charts of a report with long names.
func pictures(t *testing.T) map[string]string {
	t.Helper()
	folder := t.TempDir()
	if err := charts.WriteResults(longReport(), folder, io.Discard); err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for from, least := range map[string]int{folder: 4, "../../docs/charts": 4, "../../docs/pictures": 3} {
		paths, _ := filepath.Glob(filepath.Join(from, "*.svg"))
		if len(paths) < least {
			t.Fatalf("pictures in %s: %v; expected %d or more", from, paths, least)
		}
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(content), "<text") { // the mark has none
				all[filepath.Base(path)] = string(content)
			}
		}
	}
	return all
}

// Each picture is in a tree of its own, since their styles have the same names.
func TestTextsOfAPictureStayApartAndInTheirBoxesWithoutTheFontThatItWasMadeWith(t *testing.T) {
	t.Parallel()
	chromium := browser.Start(t)
	all := pictures(t)
	var page strings.Builder
	page.WriteString("<!doctype html><meta charset=utf-8><style>:root{color-scheme:light dark}</style>")
	for _, font := range fonts {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			picture := all[name][strings.Index(all[name], "<svg"):]
			if !anySans.MatchString(picture) {
				t.Errorf("%s names no font that every reader has", name)
			}
			fmt.Fprintf(&page, "<p>%[1]s\n<div id='%[1]s in %[2]s'><template shadowrootmode=open>%[3]s"+
				"<style>text {font-family: '%[2]s' !important} "+
				".code {font-family: 'DejaVu Sans Mono' !important}</style></template></div>", name, font, picture)
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
