package charts

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgflurry/bench/report"
	"pgflurry/bench/statistics"
	"pgflurry/bench/trial"
)

// sampleReport has two tasks. One has figures for two numbers of clients.
func sampleReport() *report.Report {
	figure := func(task, contender string, clients int, speed float64) report.Figure {
		trip := func(f float64) statistics.Spread {
			return statistics.Spread{Low: f * 0.9, Median: f, High: f * 1.2, N: 9}
		}
		return report.Figure{
			Task: task, Workload: task + ", some clients", Contender: contender, Clients: clients, Counts: "IDs",
			PerSecond: statistics.Spread{Low: speed / 2, Median: speed, High: speed * 2, N: 9},
			Latency:   map[string]statistics.Spread{"p50": trip(100), "p99": trip(900)},
		}
	}
	batch := func(contender string, each float64) report.Figure {
		f := figure("Batch, prepared", contender, 4, 5e6)
		f.Latency, f.ServerCPU = nil, &statistics.Spread{Low: each, Median: each, High: each, N: 9}
		return f
	}
	return &report.Report{
		Kind: report.KindIDs, Began: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
		Machine: report.Machine{Processor: "A Processor", CPUs: 2, System: "A System"},
		Figures: []report.Figure{
			figure("one by one", "fast source", 1, 12345), figure("one by one", "slow source", 1, 20),
			figure("one by one", "fast source", 8, 54321), figure("one by one", "slow source", 8, 30),
			batch("fast source", 2.5), batch("slow source", 7.5), figure("alone", "one source", 4, 5e6),
		},
	}
}

// drawn returns the charts of a report as SVGs, by name.
func drawn(t *testing.T, r *report.Report) map[string]string {
	t.Helper()
	all, err := chartsOf(r)
	if err != nil {
		t.Fatal(err)
	}
	texts := make(map[string]string)
	for _, chart := range all {
		var svg bytes.Buffer
		if _, err := chart.svg().WriteTo(&svg); err != nil {
			t.Fatal(err)
		}
		texts[chart.Name] = svg.String()
	}
	return texts
}

func TestAChartIsSavedAsSVGAndPNG(t *testing.T) {
	all, err := chartsOf(sampleReport())
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := all[0].save(folder); err != nil {
		t.Fatal(err)
	}
	picture, err := os.ReadFile(filepath.Join(folder, all[0].Name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	if decoded, err := png.Decode(bytes.NewReader(picture)); err != nil || decoded.Bounds().Dx() < 1000 {
		t.Errorf("%s.png: %v", all[0].Name, err)
	}
	svg, err := os.ReadFile(filepath.Join(folder, all[0].Name+".svg"))
	if err != nil || string(svg) != drawn(t, sampleReport())[all[0].Name] {
		t.Errorf("%s.svg is not what was drawn (error %v)", all[0].Name, err)
	}
}

func TestThereAreChartsOfWhatWasMeasuredWhereThereIsSomethingToCompare(t *testing.T) {
	charts := drawn(t, sampleReport())
	for _, name := range []string{
		"throughput-one-by-one", "latency-one-by-one", "clients-one-by-one", "throughput-batch-prepared",
		"cpu-batch-prepared",
	} {
		if charts[name] == "" {
			t.Errorf("there is no chart %s", name)
		}
	}
	if len(charts) != 5 {
		t.Errorf("%d charts; expected 5: the batch has one number of clients and no round trips, "+
			"and one task a single source", len(charts))
	}
	if text := charts["cpu-batch-prepared"]; !strings.Contains(text, ">2.5<") || !strings.Contains(text, ">7.5<") ||
		above(text, "slow source", "fast source") {
		t.Error("the chart of the processor time does not show it, or the greatest on top")
	}
	if above(charts["throughput-one-by-one"], "slow source", "fast source") {
		t.Error("the chart of the throughput has the slowest on top")
	}
	if text := charts["throughput-one-by-one"]; !strings.Contains(text, "54.3k") || strings.Contains(text, "12.3k") {
		t.Error("the chart of the throughput does not show the greatest number of clients alone")
	}
}

// above says that a text stands higher in a picture than another one. Names of contenders are drawn from the bottom.
func above(svg, one, other string) bool {
	return strings.Index(svg, ">"+one+"<") > strings.Index(svg, ">"+other+"<")
}

func TestEveryChartNamesItsMachineItsDateAndItsRoundsAndSaysIfTheRunWasIncomplete(t *testing.T) {
	r := sampleReport()
	r.Incomplete = "context canceled"
	for name, text := range drawn(t, r) {
		for _, want := range []string{
			"A Processor", "A System", "2026-01-02", "9 rounds", "INCOMPLETE: context canceled",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
	}
}

func TestWhatWasNotMeasuredHasNoMark(t *testing.T) {
	whole, r := drawn(t, sampleReport())["latency-one-by-one"], sampleReport()
	for i := range r.Figures {
		delete(r.Figures[i].Latency, "p99")
	}
	part := drawn(t, r)["latency-one-by-one"]
	if !strings.Contains(whole, ">p99<") || strings.Contains(part, ">p99<") || strings.Contains(whole, ">p99.9<") {
		t.Error("a percentile without figures is in the legend, or one with figures is not")
	}
}

func TestTheBarOfAMarkGoesFromTheFirstToTheThirdQuartile(t *testing.T) {
	narrow, wide := sampleReport(), sampleReport()
	for i := range narrow.Figures {
		narrow.Figures[i].PerSecond.Low, narrow.Figures[i].PerSecond.High = narrow.Figures[i].PerSecond.Median,
			narrow.Figures[i].PerSecond.Median
	}
	d := func(r *report.Report) (low, high float64) {
		dots := newDots(r, "", r.Figures[:1])
		if err := dots.add([]mark{{0, r.Figures[0].PerSecond}}, faint, glyphs[0], ""); err != nil {
			t.Fatal(err)
		}
		return dots.plot.X.Min, dots.plot.X.Max
	}
	if low, high := d(wide); low != 12345.0/2 || high != 12345*2 {
		t.Errorf("the bar goes from %v to %v; expected the quartiles", low, high)
	}
	if low, high := d(narrow); low != 12345 || high != 12345 {
		t.Errorf("without spread the bar goes from %v to %v", low, high)
	}
}

func TestAFigureOfOneRoundHasNoBarAndIsNotCalledAMedian(t *testing.T) {
	strokes := func(text string) int { return strings.Count(text, "stroke:") }
	many, one := drawn(t, sampleReport()), sampleReport()
	for i := range one.Figures {
		single := func(s statistics.Spread) statistics.Spread { return statistics.SpreadOf([]float64{s.Median}) }
		f := &one.Figures[i]
		f.PerSecond = single(f.PerSecond)
		for name := range f.Latency {
			f.Latency[name] = single(f.Latency[name])
		}
		if f.ServerCPU != nil {
			*f.ServerCPU = single(*f.ServerCPU)
		}
	}
	for name, text := range drawn(t, one) {
		if !strings.Contains(text, "; 1 round<") || strings.Contains(text, "median") {
			t.Errorf("%s does not say that it is of one round, or speaks of medians", name)
		}
		// a bar is three strokes: the line and its two ends
		if bars := strokes(many[name]) - strokes(text); bars < 2*3 {
			t.Errorf("%s: %d strokes less than the chart of nine rounds; expected the bars of two marks", name, bars)
		}
	}
}

func TestABarFromAQuartileOfZeroGoesToTheEdgeOfTheLogarithmicAxis(t *testing.T) {
	r := sampleReport()
	var batch []report.Figure
	for i, f := range r.Figures {
		if f.ServerCPU != nil {
			r.Figures[i].ServerCPU = &statistics.Spread{Low: 0, Median: f.ServerCPU.Median, High: 9, N: 9}
			batch = append(batch, r.Figures[i])
		}
	}
	if drawn(t, r)["cpu-batch-prepared"] == "" { // a mark at 0 would make the axis panic
		t.Error("there is no chart of the processor time")
	}
	d := newDots(r, "", batch[:1])
	if err := d.add([]mark{{0, *batch[0].ServerCPU}}, faint, glyphs[0], ""); err != nil {
		t.Fatal(err)
	}
	if d.chart(); d.plot.X.Min <= 0 || d.plot.X.Min >= 2.5 {
		t.Errorf("the axis begins at %v; expected it below the mark and above 0", d.plot.X.Min)
	}
}

func TestAChartByClientsNamesWhatTheReportCounts(t *testing.T) {
	r := sampleReport()
	if text := drawn(t, r)["clients-one-by-one"]; !strings.Contains(text, ">Throughput by clients: one by one<") ||
		!strings.Contains(text, ">clients<") {
		t.Error("a report that names nothing is not drawn by clients")
	}
	r.ClientsAre = "goroutines"
	charts := drawn(t, r)
	if text := charts["goroutines-one-by-one"]; !strings.Contains(text, ">Throughput by goroutines: one by one<") ||
		!strings.Contains(text, ">goroutines<") || strings.Contains(text, "clients<") {
		t.Error("a report by goroutines is not drawn so, or also by clients")
	}
}

func TestAnAxisHasTicksWithinItsEndsThatPeopleCanRead(t *testing.T) {
	var labels []string
	for _, tick := range powers(900, 30000) {
		labels = append(labels, tick.Label)
	}
	if got := strings.Join(labels, " "); got != "1k 2k 5k 10k 20k" {
		t.Errorf("ticks %q", got)
	}
	for f, want := range map[float64]string{
		0.5: "0.5", 999: "999", 999.6: "1k", 12345: "12.3k", 999_600: "1M", 4_096_000: "4.1M", 2e9: "2G",
	} {
		if got := report.Rounded(f); got != want {
			t.Errorf("%v is written %q; expected %q", f, got, want)
		}
	}
}

func TestAReportWithoutFiguresHasNoCharts(t *testing.T) {
	if all, err := chartsOf(&report.Report{}); err != nil || len(all) != 0 {
		t.Errorf("%d charts, error %v", len(all), err)
	}
}

func TestFiguresThatAreNearlyEqualStandOnAnAxisWithLabels(t *testing.T) {
	r := sampleReport()
	for i := range r.Figures {
		r.Figures[i].PerSecond = statistics.Spread{Low: 3000, Median: 3000, High: 3000, N: 9}
	}
	for name, text := range drawn(t, r) {
		if strings.HasPrefix(name, "throughput") &&
			(!strings.Contains(text, ">2k<") || !strings.Contains(text, ">5k<")) {
			t.Errorf("the axis of %s has no labels", name)
		}
	}
}

func TestRoundTripsAreInTheOrderOfTheirMean(t *testing.T) {
	trips := func(contender string, mean, half float64) report.Figure {
		return report.Figure{Contender: contender, Latency: map[string]statistics.Spread{
			trial.Mean: {Median: mean}, "p50": {Median: half},
		}}
	}
	if got := byMean([]report.Figure{
		trips("even", 150, 147), trips("starving", 352, 36),
	}); got[0].Contender != "starving" || got[1].Contender != "even" {
		t.Errorf("from the bottom: %s, %s; expected the lowest mean on top", got[0].Contender, got[1].Contender)
	}
}
