package charts

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pgflurry/bench/report"
)

// colours are distinct for people with colour blindness, too (Okabe and Ito 2008, without the yellow).
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

// logarithmic makes an axis logarithmic, with a label at 1, 2 and 5 of every power of ten.
func logarithmic(a *plot.Axis) {
	a.Scale, a.Tick.Marker = plot.LogScale{}, plot.TickerFunc(powers)
}

// widen extends a logarithmic axis a little beyond its marks, so that none lies on the edge. The axis spans at least a
// power of ten: so it has labels, and small differences look small. Call it after the last mark is added.
func widen(a *plot.Axis) {
	beyond := max(math.Pow(a.Max/a.Min, 0.05), math.Sqrt(10*a.Min/a.Max))
	a.Min, a.Max = a.Min/beyond, a.Max*beyond
}

// newLegend makes a legend at the top right, with room between its lines.
func newLegend() plot.Legend {
	l := plot.NewLegend()
	l.Top, l.Padding = true, vg.Points(3)
	l.TextStyle.Font.Size = 11
	hold(&l.TextStyle)
	return l
}

// powers returns the ticks between two numbers above zero. Over more than three powers of ten, only the powers have
// labels.
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

// titled writes title and caption at the top, and returns the canvas below them with a margin. right is the room to
// leave at the right.
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

// plotted draws a plot, and the unit below its lower axis. It does not use the plot's own label. On a logarithmic axis
// that label takes room at the right, because it is centred by the arithmetic middle.
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
