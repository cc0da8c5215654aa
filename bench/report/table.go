package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"pgflurry/bench/trial"
)

// column of the table: its header, and the cell of a figure.
type column struct {
	head string
	cell func(Figure) string
}

// columns are those that any figure fills.
func (r *Report) columns() []column {
	all := []column{
		{"workload", func(f Figure) string { return f.Workload }},
		{"contender", func(f Figure) string { return f.Contender }},
		{"per second", func(f Figure) string { return spread(f.PerSecond, Grouped) }},
	}
	add := func(head string, number func(float64) string, of func(Figure) map[string]Spread, key string) {
		all = append(all, column{head, func(f Figure) string {
			if s, measured := of(f)[key]; measured {
				return spread(s, number)
			}
			return "–"
		}})
	}
	ratios := func(f Figure) map[string]Spread { return f.Ratios }
	for _, base := range r.keys(ratios) {
		add("to "+base, hundredths, ratios, base)
	}
	latency := func(f Figure) map[string]Spread { return f.Latency }
	for _, name := range []string{"mean", "p50", "p99", "p99.9", "max"} {
		if slices.Contains(r.keys(latency), name) {
			add(name+" of a round trip, µs", Grouped, latency, name)
		}
	}
	cpu := func(f Figure) map[string]Spread { return f.CPU }
	for _, role := range r.keys(cpu) {
		if where := map[string]string{trial.Middle: "in front", trial.Database: "in the database"}[role]; where != "" {
			add("µs of CPU "+where+", each", small, cpu, role)
		}
	}
	add("µs of CPU, each", small, func(f Figure) map[string]Spread {
		if f.ServerCPU == nil {
			return nil
		}
		return map[string]Spread{"": *f.ServerCPU}
	}, "")
	cpuRatios := func(f Figure) map[string]Spread { return f.CPURatios }
	for _, base := range r.keys(cpuRatios) {
		add("CPU to "+base, hundredths, cpuRatios, base)
	}
	also := func(f Figure) map[string]Spread { return f.Also }
	for _, name := range r.keys(also) {
		add(name, small, also, name)
	}
	return all
}

// keys are the names in a map of any figure, in order.
func (r *Report) keys(of func(Figure) map[string]Spread) []string {
	all := make(map[string]bool)
	for _, f := range r.Figures {
		for name := range of(f) {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// WriteTable writes the figures and the verdicts for a terminal.
func (r *Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	columns := r.columns()
	for _, c := range columns {
		fmt.Fprint(t, c.head, "\t") // Flush returns the error, if any
	}
	fmt.Fprintln(t)
	for _, f := range r.Figures {
		for _, c := range columns {
			fmt.Fprint(t, plain(c.cell(f)), "\t")
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintln(t)
	for _, v := range r.Verdicts {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t\n", plain(v.Claim), v.figure(), v.target(), v.word())
	}
	return t.Flush()
}

// spread formats a median with its quartiles. A figure of one round has none.
func spread(s Spread, number func(float64) string) string {
	if s.N == 1 {
		return number(s.Median)
	}
	return fmt.Sprintf("%s (%s – %s)", number(s.Median), number(s.Low), number(s.High))
}

// plain removes Markdown's marks from a name.
func plain(name string) string { return strings.ReplaceAll(name, "`", "") }

// hundredths formats a number with two decimals.
func hundredths(f float64) string { return fmt.Sprintf("%.2f", f) }

// small formats a figure with as many decimals as matter. It may even be negative, as the difference of two figures.
func small(f float64) string {
	switch {
	case f == 0:
		return "0"
	case f < 0:
		return "< 0.01"
	case f < 10:
		return fmt.Sprintf("%.3g", f)
	case f < 1000:
		return fmt.Sprintf("%.1f", f)
	}
	return Grouped(f)
}

// Grouped formats a number in groups of three digits.
func Grouped(f float64) string {
	digits := fmt.Sprintf("%.0f", f)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
