package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"pgflurry/bench/statistics"
	"pgflurry/bench/trial"
)

// column of the table: its header, and the cell of a figure.
type column struct {
	head string
	left bool // aligned to the left
	cell func(Figure) string
}

// columns of a report, by its kind.
func (r *Report) columns() []column {
	speed := "per second: median (quartiles)"
	if r.rounds() == 1 {
		speed = "per second"
	}
	head := []column{
		{"workload", true, func(f Figure) string { return f.Workload }},
		{"contender", true, func(f Figure) string { return f.Contender }},
		{speed, false, func(f Figure) string { return withQuartiles(&f.PerSecond, Grouped) }},
	}
	if r.Kind == KindInProcess {
		return append(head, inProcessColumns...)
	}
	tail := []column{
		{"µs of CPU in front, each", false, func(f Figure) string { return spent(f, trial.Middle) }},
		{"µs of CPU in the database, each", false, func(f Figure) string { return spent(f, trial.Database) }},
		{"µs of CPU in all servers, each", false, serverCPU},
	}
	if r.Kind == KindPassThrough {
		return append(append(head,
			column{"to direct", false, func(f Figure) string { return ratio(f, Direct) }},
			column{"to PgBouncer", false, func(f Figure) string { return ratio(f, PgBouncer) }}), tail...)
	}
	head = append(head, column{"to nextval", false, func(f Figure) string { return ratio(f, Nextval) }})
	if r.Kind == KindConnections {
		return append(append(append(head, trips(trial.Mean, "p50", "p99", trial.Max)...), tail...),
			column{"KiB of memory, each", false, memory})
	}
	tail = append(tail, column{"WAL bytes, each", false, wal})
	if r.Kind == KindTargets {
		tail = append(tail, column{"CPU to Redis INCR's", false, func(f Figure) string {
			return show(f.CPURatios, Redis)
		}})
		return append(head, tail...)
	}
	if r.Kind == KindInserts {
		return append(append(head, tail...), column{"index of the key, MiB", false, index})
	}
	return append(append(head, trips(trial.Mean, "p50", "p99", "p99.9")...), tail...)
}

// trips are columns with the time of a round trip.
func trips(names ...string) (all []column) {
	for _, of := range names {
		all = append(all, column{of + " of a round trip, µs", false, func(f Figure) string { return trip(f, of) }})
	}
	return all
}

func (r *Report) writeFigures(b *strings.Builder) {
	columns := r.columns()
	var rule strings.Builder
	for _, c := range columns {
		fmt.Fprintf(b, "| %s ", c.head)
		if c.left {
			rule.WriteString("|---")
		} else {
			rule.WriteString("|--:")
		}
	}
	fmt.Fprintf(b, "|\n%s|\n", rule.String())
	for _, f := range r.Figures {
		for _, c := range columns {
			fmt.Fprintf(b, "| %s ", c.cell(f))
		}
		b.WriteString("|\n")
	}
}

// WriteTable writes the figures for a terminal.
func (r *Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	columns := r.columns()
	for _, c := range columns {
		fmt.Fprint(t, c.head, "\t") // Flush returns the error, if any
	}
	fmt.Fprintln(t)
	for _, f := range r.Figures {
		for _, c := range columns {
			fmt.Fprint(t, strings.ReplaceAll(c.cell(f), "`", ""), "\t")
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintln(t)
	for _, v := range r.Verdicts {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t\n", strings.ReplaceAll(v.Claim, "`", ""), v.figure(), v.target(), v.word())
	}
	return t.Flush()
}

func ratio(f Figure, to string) string { return show(f.Ratios, to) }

func show(ratios map[string]statistics.Spread, to string) string {
	r, ok := ratios[to]
	if !ok {
		return "–"
	}
	return withQuartiles(&r, hundredths)
}

// hundredths formats a number with two decimals.
func hundredths(f float64) string { return fmt.Sprintf("%.2f", f) }

func spent(f Figure, role string) string {
	c, ok := f.CPU[role]
	switch {
	case !ok && role == trial.Middle && !f.Through:
		return "–"
	case !ok:
		return notMeasured
	}
	return small(c.Median)
}

func serverCPU(f Figure) string {
	if f.ServerCPU == nil {
		return notMeasured
	}
	return small(f.ServerCPU.Median)
}

// trip formats the time of a round trip.
func trip(f Figure, of string) string {
	if took, measured := f.Latency[of]; measured {
		return Grouped(took.Median)
	}
	return notMeasured
}

const notMeasured = "not measured"

// small formats a figure with as many decimals as matter. One that rounds to zero becomes "< 0.01". It may even be
// negative, as the difference of two figures.
func small(f float64) string {
	switch {
	case f < 0.005:
		return "< 0.01"
	case f < 10:
		return fmt.Sprintf("%.2f", f)
	}
	return fmt.Sprintf("%.1f", f)
}

func wal(f Figure) string {
	if f.WAL == nil {
		return notMeasured
	}
	switch each := f.WAL.Median; {
	case each == 0:
		return "0" // no bytes in most of the rounds
	case each < 0.005:
		return small(each)
	default:
		return fmt.Sprintf("%.2f", each)
	}
}

func index(f Figure) string {
	if f.Index == nil {
		return notMeasured
	}
	return fmt.Sprintf("%.1f", f.Index.Median/(1<<20))
}

func memory(f Figure) string {
	if f.Memory == nil {
		return notMeasured
	}
	each := f.Memory.Times(1.0 / 1024)
	return withQuartiles(&each, small)
}

// Grouped formats a number in groups of three digits.
func Grouped(f float64) string {
	digits := fmt.Sprintf("%.0f", f)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// inProcessColumns are the columns of that kind after the throughput.
var inProcessColumns = []column{
	{"ns of CPU, each", false, ownCPU},
	{"the same in readings of the clock", false, func(f Figure) string { return show(f.CPURatios, ClockReading) }},
	{"processors busy", false, busy},
}

func ownCPU(f Figure) string {
	c, ok := f.CPU[trial.Self]
	if !ok {
		return notMeasured
	}
	return fmt.Sprintf("%.3g", 1000*c.Median)
}

func busy(f Figure) string { return withQuartiles(f.Busy, hundredths) }
