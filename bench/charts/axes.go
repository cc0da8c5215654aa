package charts

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pgflurry/bench/report"
)

// colours that people with colour blindness tell apart (Okabe and Ito 2008, without the yellow).
var colours = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff},
	{0xd5, 0x5e, 0x00, 0xff},
	{0x00, 0x9e, 0x73, 0xff},
	{0xcc, 0x79, 0xa7, 0xff},
	{0xe6, 0x9f, 0x00, 0xff},
	{0x56, 0xb4, 0xe9, 0xff},
	{0x00, 0x00, 0x00, 0xff},
}

var faint = color.Gray{0xe0}

var glyphs = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.TriangleGlyph{},
}

// logarithmic makes an axis so, with a label at 1, 2 and 5 of every power of ten.
func logarithmic(a *plot.Axis) {
	a.Scale, a.Tick.Marker = plot.LogScale{}, plot.TickerFunc(powers)
}

// widen lets a logarithmic axis begin and end a little beyond its marks, so that none lies on the edge, and span
// a power of ten at least, so that it has labels and small differences look small. It comes after the last mark.
func widen(a *plot.Axis) {
	beyond := max(math.Pow(a.Max/a.Min, 0.05), math.Sqrt(10*a.Min/a.Max))
	a.Min, a.Max = a.Min/beyond, a.Max*beyond
}

// newLegend is one at the top right with room between its lines.
func newLegend() plot.Legend {
	l := plot.NewLegend()
	l.Top, l.Padding = true, vg.Points(3)
	l.TextStyle.Font.Size = 11
	hold(&l.TextStyle)
	return l
}

// powers gives the ticks between two numbers above zero; over more than three powers of ten only those are labelled.
func powers(low, high float64) (ticks []plot.Tick) {
	wide := math.Log10(high/low) > 3
	for power := math.Floor(math.Log10(low)); power <= math.Ceil(math.Log10(high)); power++ {
		for _, digit := range []float64{1, 2, 5} {
			tick := plot.Tick{Value: digit * math.Pow(10, power)}
			if digit == 1 || !wide {
				tick.Label = report.Rounded(tick.Value)
			}
			if tick.Value >= low && tick.Value <= high {
				ticks = append(ticks, tick)
			}
		}
	}
	return ticks
}

// titled writes title and caption at the top and gives what is below, with a margin. They leave room at the right.
func titled(c draw.Canvas, title, caption string, right vg.Length) draw.Canvas {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, 3*vg.Millimeter, -4*vg.Millimeter, 3*vg.Millimeter, -3*vg.Millimeter)
	y := c.Max.Y
	for _, line := range []struct {
		text string
		size vg.Length
	}{{title, 14}, {caption, 9}} {
		style := written(line.size)
		style.YAlign = draw.YTop
		for _, text := range folded(style, line.text, c.Size().X-right) {
			c.FillText(style, vg.Point{X: c.Min.X, Y: y}, text)
			y -= style.Rectangle(text).Size().Y
		}
		y -= vg.Points(4)
	}
	c.Max.Y = y - vg.Points(4)
	return c
}

// plotted draws a plot with the unit of its lower axis below that. The plot's own label would take room at the right,
// as if it stood in the arithmetic middle of the axis, which is not that of a logarithmic one.
func plotted(p *plot.Plot, c draw.Canvas, unit string) {
	style := written(12)
	style.XAlign, style.YAlign = draw.XCenter, draw.YBottom
	body := draw.Crop(c, 0, 0, style.Rectangle(unit).Size().Y+vg.Points(4), 0)
	data := p.DataCanvas(body)
	middle := min(data.Center().X, c.Max.X-style.Width(unit)/2)
	c.FillText(style, vg.Point{X: middle, Y: c.Min.Y}, unit)
	p.Draw(body)
}

func written(size vg.Length) draw.TextStyle {
	return draw.TextStyle{
		Color: color.Black, Font: typeface(size), Handler: texts,
	}
}
