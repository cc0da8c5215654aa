package charts

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A reader's browser chooses the font of an SVG. So the SVG names several fonts, and each text has an anchor. A name
// beside an axis is anchored at its end, a value above its mark at its middle. The layout leaves room for wider fonts
// than its own.

const (
	// families are the fonts of an SVG. The first three have letters of the same width.
	families = `'Liberation Sans',Arial,Helvetica,sans-serif`
	// widest is how much wider a text may be in other common fonts than in Liberation Sans. Verdana, DejaVu Sans and
	// DejaVu Serif are the wide ones.
	widest = 1.25
)

// typeface is the font of the layout and of PNG files.
func typeface(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// held lays out texts with room for wider fonts. An SVG anchors them where the layout does.
type held struct{ text.Plain }

var texts = held{text.Plain{Fonts: font.DefaultCache}}

// Box is the size in the widest font that a reader may have.
func (h held) Box(line string, f font.Font) (width, height, depth vg.Length) {
	width, height, depth = h.Plain.Box(line, f)
	return width * widest, height, depth
}

// Draw leaves the alignment to the SVG.
func (h held) Draw(c vg.Canvas, txt string, style text.Style, at vg.Point) {
	if svg, is := below(c).(*svgCanvas); is {
		svg.holding, style.XAlign = style.XAlign, text.XLeft
	}
	h.Plain.Draw(c, txt, style, at)
}

// below is the canvas that a part of it draws on.
func below(c vg.Canvas) vg.Canvas {
	switch on := c.(type) {
	case *draw.Canvas:
		return below(on.Canvas)
	case draw.Canvas:
		return below(on.Canvas)
	}
	return c
}

// svgCanvas is vgsvg's canvas with an anchor for each text.
type svgCanvas struct {
	*vgsvg.Canvas
	holding text.XAlignment
	anchors []string // of the texts so far
}

func newSVG(width, height vg.Length) *svgCanvas { return &svgCanvas{Canvas: vgsvg.New(width, height)} }

// FillString records the anchor of a text.
func (c *svgCanvas) FillString(f font.Face, at vg.Point, txt string) {
	c.anchors = append(c.anchors, map[text.XAlignment]string{
		text.XLeft: "start", text.XCenter: "middle", text.XRight: "end",
	}[c.holding])
	c.Canvas.FillString(f, at, txt)
}

var (
	textElement = regexp.MustCompile(`<text `)
	fontOfText  = regexp.MustCompile(`font-family:[^;]*;font-variant:[^;]*;font-weight:[^;]*;font-style:[^;]*;`)
)

// WriteTo writes the picture with anchors and font families, which vgsvg does not support.
func (c *svgCanvas) WriteTo(w io.Writer) (int64, error) {
	var drawn bytes.Buffer
	if _, err := c.Canvas.WriteTo(&drawn); err != nil {
		return 0, err
	}
	next := 0
	picture := textElement.ReplaceAllStringFunc(drawn.String(), func(element string) string {
		next++
		return fmt.Sprintf(`%stext-anchor="%s" `, element, c.anchors[next-1])
	})
	n, err := io.WriteString(w, fontOfText.ReplaceAllLiteralString(picture, "font-family:"+families+";"))
	return int64(n), err
}

// newPlot makes a plot whose texts are anchored.
func newPlot() *plot.Plot {
	p := plot.New()
	p.TextHandler = texts
	for _, style := range []*text.Style{
		&p.Title.TextStyle, &p.X.Label.TextStyle, &p.X.Tick.Label, &p.Y.Label.TextStyle, &p.Y.Tick.Label,
	} {
		hold(style)
	}
	return p
}

// hold gives a style the font and the text handler of this package.
func hold(style *text.Style) { style.Font, style.Handler = typeface(style.Font.Size), texts }

// folded breaks a text into lines that fit into room. A word that is wider alone keeps its line.
func folded(style text.Style, txt string, room vg.Length) (lines []string) {
	for paragraph := range strings.SplitSeq(txt, "\n") {
		line := ""
		for word := range strings.FieldsSeq(paragraph) {
			longer := strings.TrimPrefix(line+" "+word, " ")
			if line != "" && style.Width(longer) > room {
				lines, longer = append(lines, line), word
			}
			line = longer
		}
		lines = append(lines, line)
	}
	return lines
}
