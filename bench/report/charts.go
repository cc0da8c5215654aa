package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// chart is one figure of every contender of a workload: a mark at the median, and a bar from the first to the third
// quartile. The axis is logarithmic, because contenders differ by orders of magnitude.
type chart struct {
	title, axis string
	marks       []mark // the best first
}

type mark struct {
	name string
	of   Spread
}

// charts are those of the figures, by file name. Each workload with several contenders has throughput and processor
// time, and p99 where it was measured.
func (r *Report) charts() map[string]chart {
	all := make(map[string]chart)
	for _, of := range workloads(r.Figures) {
		for _, what := range []struct {
			file, axis string
			more       bool // more is better
			figure     func(Figure) (Spread, bool)
		}{
			{"throughput", of[0].Counts + " a second", true, func(f Figure) (Spread, bool) {
				return f.PerSecond, true
			}},
			{"latency", "p99 of a round trip, µs", false, func(f Figure) (Spread, bool) {
				s, measured := f.Latency["p99"]
				return s, measured
			}},
			{"cpu", "µs of processor time, each", false, func(f Figure) (Spread, bool) {
				if f.ServerCPU == nil {
					return Spread{}, false
				}
				return *f.ServerCPU, true
			}},
		} {
			c := chart{title: r.caption(of[0].Workload), axis: what.axis}
			for _, f := range of {
				if s, measured := what.figure(f); measured && s.Low > 0 {
					c.marks = append(c.marks, mark{plain(f.Contender), s})
				}
			}
			slices.SortStableFunc(c.marks, func(a, b mark) int {
				if what.more {
					a, b = b, a
				}
				return int(math.Copysign(1, a.of.Median-b.of.Median))
			})
			if len(c.marks) > 1 {
				all[what.file+"-"+slug(of[0].Workload)] = c
			}
		}
	}
	return all
}

// caption names the workload, and the machine and day of the run.
func (r *Report) caption(workload string) string {
	text := fmt.Sprintf("%s\n%s, %d CPUs, %s, medians and quartiles of %d rounds", plain(workload), r.Machine.Processor,
		r.Machine.CPUs, r.Began.UTC().Format("2006-01-02"), r.rounds())
	if r.Incomplete != "" {
		text += ", incomplete"
	}
	return text
}

// rounds is the greatest number of rounds of a figure.
func (r *Report) rounds() (most int) {
	for _, f := range r.Figures {
		most = max(most, f.PerSecond.N)
	}
	return most
}

// slug makes a name of a file.
func slug(workload string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(workload), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	}), "-")
}

// svg draws the chart.
func (c chart) svg() ([]byte, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text = c.title, c.axis
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Add(plotter.NewGrid())
	points := quartiles{XYs: make(plotter.XYs, len(c.marks)), XErrors: make(plotter.XErrors, len(c.marks))}
	names := make([]string, len(c.marks))
	for i, m := range slices.Backward(c.marks) { // the first is at the top
		at := len(c.marks) - 1 - i
		points.XYs[at].X, points.XYs[at].Y = m.of.Median, float64(at)
		points.XErrors[at].Low, points.XErrors[at].High = m.of.Median-m.of.Low, m.of.High-m.of.Median
		names[at] = m.name + "  " + inNineColumns(m.of.Median)
		if m.of.Median < 100 {
			names[at] = m.name + "  " + small(m.of.Median)
		}
	}
	bars, err := plotter.NewXErrorBars(points)
	if err != nil {
		return nil, err
	}
	dots, err := plotter.NewScatter(points)
	if err != nil {
		return nil, err
	}
	dots.Radius = vg.Points(3)
	p.Add(bars, dots)
	p.NominalY(names...)
	canvas, err := p.WriterTo(9*vg.Inch, vg.Length(1.2+0.28*float64(len(c.marks)))*vg.Inch, "svg")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	_, err = canvas.WriteTo(&b)
	return b.Bytes(), err
}

// quartiles are points with horizontal bars.
type quartiles struct {
	plotter.XYs
	plotter.XErrors
}
