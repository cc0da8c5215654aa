package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"pgflurry/bench/trial"
)

// OpenLoop is in the task of an open loop, behind that of its closed loop.
const OpenLoop = ", open loop at "

// Screen is how a quick look is shown. No line has more than its columns.
const (
	screenColumns = 100
	barColumns    = 40
)

// WriteQuick writes a quick look: a table of the closed loop, with the round trips of the open one beside it, the
// summary, and bars.
func (r *Report) WriteQuick(w io.Writer) error {
	closed := slices.DeleteFunc(slices.Clone(r.Figures), func(f Figure) bool {
		return strings.Contains(f.Task, OpenLoop)
	})
	slices.SortStableFunc(closed, func(a, b Figure) int { return cmp.Compare(b.PerSecond.Median, a.PerSecond.Median) })
	var b strings.Builder
	for at, of := range workloads(closed) {
		if at > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s:\n", plain(of[0].Workload))
		r.writeQuickTable(&b, of)
	}
	b.WriteString("\n")
	wrap(&b, "p50 and p99 are the wait of clients that come at times of their own, half as often as the table's "+
		"throughput. CPU is the processor time of all servers for one ID.")
	if slices.ContainsFunc(closed, func(f Figure) bool { return f.ServerCPU == nil }) {
		wrap(&b, "–: not measured, because the server may be on another machine.")
	}
	if m := r.Machine; m.Load > float64(m.CPUs)/2 { // they left less than half
		wrap(&b, fmt.Sprintf("Others kept this machine busy, which is in all figures: a load of %.1f on %s before.",
			m.Load, trial.Counted(m.CPUs, "CPU")))
	}
	if r.Incomplete != "" {
		wrap(&b, "Incomplete: "+r.Incomplete+".")
	}
	b.WriteString("\n")
	wrap(&b, r.Summary)
	b.WriteString("\nIDs a second:\n")
	for _, f := range closed {
		share := f.PerSecond.Median / closed[0].PerSecond.Median
		fmt.Fprintf(&b, "%-42s %s %s\n", plain(f.Contender), strings.Repeat("█", max(1, int(share*barColumns+0.5))),
			inNineColumns(f.PerSecond.Median))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// workloads groups figures by workload, in order.
func workloads(figures []Figure) (all [][]Figure) {
	for _, f := range figures {
		at := slices.IndexFunc(all, func(of []Figure) bool { return of[0].Workload == f.Workload })
		if at < 0 {
			at, all = len(all), append(all, nil)
		}
		all[at] = append(all[at], f)
	}
	return all
}

// writeQuickTable writes the figures of one workload: absolute ones first, the ratio last.
func (r *Report) writeQuickTable(b *strings.Builder, figures []Figure) {
	line := func(cells ...string) {
		for i, cell := range cells {
			if i == 0 {
				fmt.Fprintf(b, "%-42s", cell)
				continue
			}
			fmt.Fprintf(b, "  %9s", cell)
		}
		b.WriteString("\n")
	}
	line("", "IDs a", "p50", "p99", "CPU", "to")
	line("", "second", "µs", "µs", "µs", Nextval)
	for _, f := range figures {
		spent, to := "–", "–"
		if f.ServerCPU != nil {
			spent = small(f.ServerCPU.Median)
		}
		if ratio, compared := f.Ratios[Nextval]; compared {
			to = hundredths(ratio.Median)
		} else if f.Contender == Nextval {
			to = "1"
		}
		line(plain(f.Contender), inNineColumns(f.PerSecond.Median), r.openTrip(f, "p50"), r.openTrip(f, "p99"),
			spent, to)
	}
}

// openTrip is a percentile of the open loop that belongs to the figure of a closed one.
func (r *Report) openTrip(of Figure, percentile string) string {
	for _, f := range r.Figures {
		task, _, open := strings.Cut(f.Task, OpenLoop)
		if took, measured := f.Latency[percentile]; open && measured && task == of.Task && f.Clients == of.Clients &&
			f.Contender == of.Contender {
			return inNineColumns(took.Median)
		}
	}
	return "–"
}

// wrap writes a text in lines of the screen's width.
func wrap(b *strings.Builder, text string) {
	used := 0
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case used == 0:
			used = n
		case used+1+n <= screenColumns:
			b.WriteByte(' ')
			used += 1 + n
		default:
			b.WriteByte('\n')
			used = n
		}
		b.WriteString(word)
	}
	if used > 0 {
		b.WriteByte('\n')
	}
}

// inNineColumns formats a number in groups of three digits. With eight digits or more it has three significant ones.
func inNineColumns(f float64) string {
	if f < 9_999_999.5 {
		return Grouped(f)
	}
	return fmt.Sprintf("%.3gM", f/1e6)
}
