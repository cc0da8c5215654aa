package admin

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A chart is one line over the last ten minutes, in the coordinates of its SVG.
type chart struct {
	Name, Unit  string
	Now, Most   string
	Top         string // of the scale, which begins at zero
	Description string // in words, for people who cannot see it
	Line, Area  string // paths; empty: no point yet
	X, Y        string // of the last point
	Span        string // how far back it goes
}

// Size of a chart, in the units of its SVG. The margin leaves room for the line's width.
const (
	chartWidth, chartHeight = 300, 56
	chartMargin             = 4
)

// newChart draws points, the oldest first, from zero to top. Its left edge is ten minutes ago, and its right edge now.
func newChart(name, unit string, points []float64, top float64) chart {
	c := chart{Name: name, Unit: unit, Now: "–", Most: "–", Top: rate(top)}
	if len(points) == 0 {
		c.Unit, c.Description = "", name+": not measured yet"
		return c
	}
	least, most, now := slices.Min(points), slices.Max(points), points[len(points)-1]
	c.Now, c.Most = rate(now), rate(most)
	c.Span = lasting(sampleEvery * time.Duration(len(points)))
	c.Description = fmt.Sprintf("%s over the last %s: now %s, least %s, most %s",
		name, c.Span, c.Now, rate(least), c.Most)

	x := func(i int) string {
		back := float64(len(points)-1-i) / float64(sampled-2)
		return fmt.Sprintf("%.1f", chartWidth-chartMargin-back*(chartWidth-2*chartMargin))
	}
	y := func(p float64) string {
		return fmt.Sprintf("%.1f", chartHeight-chartMargin-p/top*(chartHeight-2*chartMargin))
	}
	steps := make([]string, len(points))
	for i, p := range points {
		steps[i] = x(i) + " " + y(p)
	}
	c.Line = "M" + strings.Join(steps, "L")
	c.X, c.Y = x(len(points)-1), y(now)
	c.Area = fmt.Sprintf("%sL%s %sL%s %sZ", c.Line, c.X, y(0), x(0), y(0))
	return c
}

// rate formats a number of a chart. A small number has one decimal.
func rate(v float64) string {
	if v > 0 && v < 10 && v != math.Trunc(v) {
		return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	}
	return grouped(int64(math.Round(v)))
}

// scale is a round number above all points, for the top of a chart. It is at least ten: one a second is not much.
func scale(lines ...[]float64) float64 {
	top, steps := 10., 0
	for _, p := range slices.Concat(lines...) {
		for ; top < p; steps++ {
			top *= []float64{2, 2.5, 2}[steps%3]
		}
	}
	return top
}

// charts are the charts of the page. Answers and what was declined have one scale: together they are the calls.
func charts(s series) []chart {
	calls := scale(s.answers, s.declined)
	return []chart{
		newChart("IDs", "/s", s.ids, scale(s.ids)),
		newChart("Answers", "/s", s.answers, calls),
		newChart("Declined", "/s", s.declined, calls),
		newChart("Sessions", "", s.sessions, scale(s.sessions)),
	}
}
