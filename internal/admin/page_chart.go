package admin

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A chart is one line over the last ten minutes, in the coordinates of its SVG.
type chart struct {
	Name, Unit  string
	Now, Most   string
	Description string // in words, for people who cannot see it
	Line, Area  string // paths; empty: no point yet
	X, Y        string // of the last point
	Short       string // how far back it goes, if less than ten minutes
}

// Size of a chart, in the units of its SVG. The margin leaves room for the line's width.
const (
	chartWidth, chartHeight = 300, 56
	chartMargin             = 4
)

// newChart draws points, the oldest first. The right edge is now, and the left edge is ten minutes ago.
func newChart(name, unit string, points []float64) chart {
	c := chart{Name: name, Unit: unit, Now: "–", Most: "–"}
	if len(points) == 0 {
		c.Unit, c.Description = "", name+": not measured yet"
		return c
	}
	least, most := points[0], points[0]
	for _, p := range points {
		least, most = min(least, p), max(most, p)
	}
	now := points[len(points)-1]
	c.Now, c.Most = rate(now), rate(most)
	span := lasting(sampleEvery * time.Duration(len(points)))
	if len(points) < sampled-1 {
		c.Short = "for " + span
	}
	c.Description = fmt.Sprintf("%s over the last %s: now %s, least %s, most %s",
		name, span, c.Now, rate(least), c.Most)

	x := func(i int) string {
		back := float64(len(points)-1-i) / float64(sampled-2)
		return coordinate(chartWidth - chartMargin - back*(chartWidth-2*chartMargin))
	}
	y := func(p float64) string {
		return coordinate(chartHeight - chartMargin - p/math.Max(most, 1)*(chartHeight-2*chartMargin))
	}
	var line strings.Builder
	for i, p := range points {
		step := "L"
		if i == 0 {
			step = "M"
		}
		line.WriteString(step + x(i) + " " + y(p))
	}
	c.X, c.Y = x(len(points)-1), y(now)
	c.Line = line.String()
	c.Area = fmt.Sprintf("%sL%s %sL%s %sZ", c.Line, c.X, y(0), x(0), y(0))
	return c
}

func coordinate(v float64) string {
	return strconv.FormatFloat(v, 'f', 1, 64)
}

// rate formats a number of a chart. A small number has one decimal.
func rate(v float64) string {
	if v > 0 && v < 10 && v != math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return grouped(int64(math.Round(v)))
}

// charts are the charts of the page.
func charts(s series) []chart {
	return []chart{
		newChart("IDs", "/s", s.ids),
		newChart("Answers", "/s", s.answers),
		newChart("Declined", "/s", s.declined),
		newChart("Sessions", "", s.sessions),
	}
}
