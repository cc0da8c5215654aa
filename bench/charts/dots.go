package charts

import (
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pgflurry/bench/report"
	"pgflurry/bench/statistics"
	"pgflurry/bench/trial"
)

// dots is a chart with a line for each contender, and marks on a logarithmic axis.
type dots struct {
	plot           *plot.Plot
	legend         plot.Legend
	lines          int
	title, caption string
	unit           string // of the axis
	// draws bars whose first quartile is 0, which this axis lacks; left is where the axis begins
	toTheEdge []func(left float64)
}

// mark is a figure on the line of a contender.
type mark struct {
	line   int // counted from the bottom
	spread statistics.Spread
}

const (
	dotsWidth = 10 * vg.Inch
	lineSpace = 0.3 * vg.Inch
	around    = 1.5 * vg.Inch // title, axis, legend
)

// order says which figure is best.
type order int

const (
	greatest order = 1
	least    order = -1
)

// throughput draws the figures of one task and one number of clients, the fastest on top.
func throughput(r *report.Report, figures []report.Figure) (chart, error) {
	return single(r, "Throughput", figures[0].Counts+" per second, logarithmic", greatest,
		figures, func(f report.Figure) statistics.Spread { return f.PerSecond })
}

// serverCPU draws the processor time of all servers together for one operation, the least on top.
func serverCPU(r *report.Report, figures []report.Figure) (chart, error) {
	unit := "microseconds of all servers together per " + strings.TrimSuffix(figures[0].Counts, "s") + ", logarithmic"
	figures = slices.DeleteFunc(slices.Clone(figures), func(f report.Figure) bool {
		return f.ServerCPU == nil || f.ServerCPU.Median == 0
	})
	return single(r, "Processor time", unit, least, figures, func(f report.Figure) statistics.Spread {
		return *f.ServerCPU
	})
}

// indexSize draws the size of the primary key's index, the smallest on top.
func indexSize(r *report.Report, figures []report.Figure) (chart, error) {
	figures = slices.DeleteFunc(slices.Clone(figures), func(f report.Figure) bool { return f.Index == nil })
	return single(r, "Index of the primary key", "MiB, logarithmic", least,
		figures, func(f report.Figure) statistics.Spread {
			const mebi = 1 << 20
			return statistics.Spread{
				Low: f.Index.Low / mebi, Median: f.Index.Median / mebi, High: f.Index.High / mebi, N: f.Index.N,
			}
		})
}

// memory draws the memory of all servers for one connection, the least on top.
func memory(r *report.Report, figures []report.Figure) (chart, error) {
	figures = slices.DeleteFunc(slices.Clone(figures), func(f report.Figure) bool { return f.Memory == nil })
	return single(r, "Memory", "KiB of all servers together for a connection, logarithmic", least,
		figures, func(f report.Figure) statistics.Spread { return f.Memory.Times(1.0 / 1024) })
}

// single draws one spread of each figure, with its value beside it, the best on top.
func single(
	r *report.Report, what, unit string, best order, figures []report.Figure, of func(report.Figure) statistics.Spread,
) (chart, error) {
	figures = slices.SortedStableFunc(slices.Values(figures), func(a, b report.Figure) int {
		return int(best) * compare(of(a).Median, of(b).Median)
	})
	d := newDots(r, what, figures)
	d.unit = unit
	marks := make([]mark, len(figures))
	values := make([]string, len(figures))
	for i, f := range figures {
		marks[i], values[i] = mark{i, of(f)}, report.Rounded(of(f).Median)
	}
	if err := d.add(marks, colours[0], draw.CircleGlyph{}, ""); err != nil {
		return chart{}, err
	}
	if err := d.label(marks, values); err != nil {
		return chart{}, err
	}
	return d.chart(), nil
}

// latency draws the percentiles of one task and one number of clients, the lowest mean on top.
func latency(r *report.Report, figures []report.Figure) (chart, error) {
	figures = byMean(figures)
	d := newDots(r, "Time of a round trip", figures)
	d.unit = "time of a round trip in microseconds, logarithmic"
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}}
	for i, name := range []string{"p50", "p99", "p99.9"} {
		var marks []mark
		for line, f := range figures {
			if spread, measured := f.Latency[name]; measured {
				marks = append(marks, mark{line, spread})
			}
		}
		if err := d.add(marks, colours[i], shapes[i], name); err != nil {
			return chart{}, err
		}
	}
	return d.chart(), nil
}

// byMean orders figures by the mean of a round trip, the lowest last. Percentiles mislead here: if a few clients run
// while the others wait, half of the round trips are short, and the mean is not.
func byMean(figures []report.Figure) []report.Figure {
	return slices.SortedStableFunc(slices.Values(figures), func(a, b report.Figure) int {
		return compare(b.Latency[trial.Mean].Median, a.Latency[trial.Mean].Median)
	})
}

func newDots(r *report.Report, what string, figures []report.Figure) *dots {
	d := &dots{
		plot: newPlot(), legend: newLegend(), lines: len(figures), title: what + ": " + plain(figures[0].Workload),
		caption: caption(r, figures[0].PerSecond.N),
	}
	var names []string
	for _, f := range figures {
		names = append(names, plain(f.Contender))
	}
	d.plot.NominalY(names...)
	d.plot.Y.Min, d.plot.Y.Max = -0.6, float64(d.lines)-0.4
	logarithmic(&d.plot.X)
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = faint, faint
	d.plot.Add(grid)
	return d
}

// add adds marks of one kind, and skips missing figures. Without a name the legend has no line for them.
func (d *dots) add(marks []mark, c color.Color, shape draw.GlyphDrawer, name string) error {
	marks = slices.DeleteFunc(slices.Clone(marks), func(m mark) bool { return m.spread.Median <= 0 })
	if len(marks) == 0 {
		return nil
	}
	if err := d.addBars(marks, c); err != nil {
		return err
	}
	points := make(plotter.XYs, len(marks))
	for i, m := range marks {
		points[i] = plotter.XY{X: m.spread.Median, Y: float64(m.line)}
	}
	scatter, err := plotter.NewScatter(points)
	if err != nil {
		return err
	}
	scatter.GlyphStyle = draw.GlyphStyle{Color: c, Radius: vg.Points(4), Shape: shape}
	d.plot.Add(scatter)
	if name != "" {
		d.legend.Add(name, scatter)
	}
	return nil
}

// addBars adds the quartiles of marks. A figure of one round has none.
func (d *dots) addBars(marks []mark, c color.Color) error {
	marks = slices.DeleteFunc(slices.Clone(marks), func(m mark) bool { return m.spread.N == 1 })
	if len(marks) == 0 {
		return nil
	}
	points := struct {
		plotter.XYs
		plotter.XErrors
	}{make(plotter.XYs, len(marks)), make(plotter.XErrors, len(marks))}
	for i, m := range marks {
		points.XYs[i] = plotter.XY{X: m.spread.Median, Y: float64(m.line)}
		points.XErrors[i].High = m.spread.High - m.spread.Median
		if m.spread.Low > 0 {
			points.XErrors[i].Low = m.spread.Low - m.spread.Median
		}
	}
	bars, err := plotter.NewXErrorBars(points) // copies the points
	if err != nil {
		return err
	}
	for i, m := range marks {
		if m.spread.Low <= 0 {
			d.toTheEdge = append(d.toTheEdge, func(left float64) { bars.XErrors[i].Low = left - m.spread.Median })
		}
	}
	bars.Color, bars.Width = c, vg.Points(1.2)
	d.plot.Add(bars)
	return nil
}

// label writes each mark's value above its line.
func (d *dots) label(marks []mark, values []string) error {
	places := plotter.XYLabels{XYs: make(plotter.XYs, len(marks)), Labels: values}
	for i, m := range marks {
		places.XYs[i] = plotter.XY{X: m.spread.Median, Y: float64(m.line)}
	}
	labels, err := plotter.NewLabels(places)
	if err != nil {
		return err
	}
	for i := range labels.TextStyle {
		hold(&labels.TextStyle[i])
		labels.TextStyle[i].XAlign = draw.XCenter
	}
	labels.Offset = vg.Point{Y: vg.Points(5)}
	d.plot.Add(labels)
	return nil
}

func (d *dots) chart() chart {
	widen(&d.plot.X)
	for _, reach := range d.toTheEdge {
		reach(d.plot.X.Min)
	}
	return chart{Width: dotsWidth, Height: around + lineSpace*vg.Length(d.lines), draw: func(c draw.Canvas) {
		body := titled(c, d.title, d.caption, d.legend.Rectangle(c).Size().X)
		plotted(d.plot, body, d.unit)
		c.Max.X = body.Max.X
		c.Max.Y -= 3 * vg.Millimeter
		d.legend.Draw(c) // in the corner beside the title
	}}
}

// plain removes Markdown's marks from a name.
func plain(name string) string { return strings.ReplaceAll(name, "`", "") }

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
