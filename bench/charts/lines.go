package charts

import (
	"image/color"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pgflurry/bench/report"
)

const (
	linesWidth  = 11 * vg.Inch
	linesHeight = 6 * vg.Inch
)

// byClients draws the throughput of each contender of a task over the number of clients, or over what the report counts
// instead. The legend has the order of the right ends.
func byClients(r *report.Report, figures []report.Figure, clients []int) (chart, error) {
	p, legend := newPlot(), newLegend()
	legend.Left = true
	p.Y.Label.Text = figures[0].Counts + " per second, logarithmic"
	logarithmic(&p.X)
	logarithmic(&p.Y)
	p.X.Tick.Marker = plot.ConstantTicks(exactly(clients))
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = faint, faint
	p.Add(grid)
	for i, series := range byContender(figures) {
		points := make(plotter.XYs, len(series))
		for j, f := range series {
			points[j] = plotter.XY{X: float64(f.Clients), Y: f.PerSecond.Median}
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return chart{}, err
		}
		c := colours[i%len(colours)]
		line.Color, line.Width = c, vg.Points(1.4)
		if again := i / len(colours); again > 0 { // colours repeat with other dashes
			line.Dashes = []vg.Length{vg.Points(6), vg.Points(3 * float64(again))}
		}
		marks.GlyphStyle = draw.GlyphStyle{Color: c, Radius: vg.Points(3.5), Shape: glyphs[i%len(glyphs)]}
		p.Add(line, marks)
		if err := addBars(p, series, c); err != nil {
			return chart{}, err
		}
		legend.Add(plain(series[0].Contender), line, marks)
	}
	widen(&p.X)
	widen(&p.Y)
	return chart{Width: linesWidth, Height: linesHeight, draw: func(c draw.Canvas) {
		title := "Throughput by " + r.ByWhat() + ": " + plain(figures[0].Task)
		body := titled(c, title, caption(r, figures[0].PerSecond.N), 0)
		beside := legend.Rectangle(body).Size().X + 2*vg.Millimeter
		plotted(p, draw.Crop(body, 0, -beside, 0, 0), r.ByWhat())
		body.Min.X = body.Max.X - beside + 2*vg.Millimeter
		legend.Draw(body)
	}}, nil
}

// addBars adds the quartiles of figures. A figure of one round has none.
func addBars(p *plot.Plot, series []report.Figure, c color.Color) error {
	var points struct {
		plotter.XYs
		plotter.YErrors
	}
	for _, f := range series {
		if s := f.PerSecond; s.N != 1 {
			points.XYs = append(points.XYs, plotter.XY{X: float64(f.Clients), Y: s.Median})
			points.YErrors = append(points.YErrors, struct{ Low, High float64 }{s.Low - s.Median, s.High - s.Median})
		}
	}
	if len(points.XYs) == 0 {
		return nil
	}
	bars, err := plotter.NewYErrorBars(points)
	if err != nil {
		return err
	}
	bars.Color = c
	p.Add(bars)
	return nil
}

// byContender groups figures by contender. Groups are in the order of their throughput at the most clients, the
// greatest first. Within a group, the number of clients rises.
func byContender(figures []report.Figure) [][]report.Figure {
	var all [][]report.Figure
	for _, f := range figures {
		i := slices.IndexFunc(all, func(s []report.Figure) bool { return s[0].Contender == f.Contender })
		if i < 0 {
			all, i = append(all, nil), len(all)
		}
		all[i] = append(all[i], f)
	}
	for _, s := range all {
		slices.SortFunc(s, func(a, b report.Figure) int { return a.Clients - b.Clients })
	}
	slices.SortStableFunc(all, func(a, b []report.Figure) int {
		return compare(b[len(b)-1].PerSecond.Median, a[len(a)-1].PerSecond.Median)
	})
	return all
}

func exactly(numbers []int) (ticks []plot.Tick) {
	for _, n := range numbers {
		ticks = append(ticks, plot.Tick{Value: float64(n), Label: strconv.Itoa(n)})
	}
	return ticks
}
