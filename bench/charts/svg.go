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

// An SVG is shown with the fonts of the reader. So it names several, and each text says where it is held: a name that
// ends at an axis is held by its end, a value above its mark by its middle. The layout has room for wider fonts than
// its own.

const (
	// families are those of an SVG. The first three have letters of the same width.
	families = `'Liberation Sans',Arial,Helvetica,sans-serif`
	// widest is how much wider a text may be in another common font than in Liberation Sans. Verdana, DejaVu Sans and
	// DejaVu Serif are the wide ones.
	widest = 1.25
)

// typeface is that of the layout and of the PNG.
func typeface(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// held are texts with room for wider fonts, which an SVG holds where the layout does.
type held struct{ text.Plain }

var texts = held{text.Plain{Fonts: font.DefaultCache}}

// Box is that of the widest font that a reader may have.
func (h held) Box(line string, f font.Font) (width, height, depth vg.Length) {
	width, height, depth = h.Plain.Box(line, f)
	return width * widest, height, depth
}

// Draw leaves the alignment to an SVG.
func (h held) Draw(c vg.Canvas, txt string, style text.Style, at vg.Point) {
	if svg, is := below(c).(*svgCanvas); is {
		svg.holding, style.XAlign = style.XAlign, text.XLeft
	}
	h.Plain.Draw(c, txt, style, at)
}

// below is what a canvas draws on: a part of one is a canvas too.
func below(c vg.Canvas) vg.Canvas {
	switch on := c.(type) {
	case *draw.Canvas:
		return below(on.Canvas)
	case draw.Canvas:
		return below(on.Canvas)
	}
	return c
}

// svgCanvas is vgsvg's, with texts that are held by one of their ends or by their middle.
type svgCanvas struct {
	*vgsvg.Canvas
	holding text.XAlignment
	anchors []string // of the texts so far
}

func newSVG(width, height vg.Length) *svgCanvas { return &svgCanvas{Canvas: vgsvg.New(width, height)} }

// FillString notes how the text is held.
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

// WriteTo writes the picture; vgsvg can neither hold a text nor name several fonts.
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

// newPlot is one whose texts are held.
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

// hold gives a style the font and the texts of this package.
func hold(style *text.Style) { style.Font, style.Handler = typeface(style.Font.Size), texts }

// folded is a text in lines that are no wider than there is room, but for a word that is wider alone.
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
