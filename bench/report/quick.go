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

// Screen is where a quick look is shown: a terminal, or a file that is opened in one.
type Screen struct {
	Width int  // columns
	ASCII bool // no other characters
}

// WriteQuick writes a quick look: a table for each number of clients, the summary, and bars of the last table. On a
// screen of 66 columns or more, no line is wider than the screen. The numbers need 66 columns at most.
func (r *Report) WriteQuick(w io.Writer, on Screen) error {
	var b strings.Builder
	var last []Figure
	for _, of := range workloads(r.Figures) {
		last = slices.SortedStableFunc(slices.Values(of), func(a, b Figure) int {
			return cmp.Compare(b.PerSecond.Median, a.PerSecond.Median)
		})
		fmt.Fprintf(&b, "%s:\n", shortened(plain(of[0].Workload), on.Width-1))
		writeQuickTable(&b, last, on.Width)
		b.WriteString("\n")
	}
	wrap(&b, "p50 and p99 are of the time of a round trip. CPU is the processor time of all servers for one ID.",
		on.Width)
	if slices.ContainsFunc(r.Figures, func(f Figure) bool { return f.ServerCPU == nil }) {
		wrap(&b, "–: not measured, because the server may be on another machine.", on.Width)
	}
	if m := r.Machine; m.busy() {
		wrap(&b, fmt.Sprintf("Others kept this machine busy, which is in all figures: a load of %.1f on %s before.",
			m.Load, trial.Counted(m.CPUs, "CPU")), on.Width)
	}
	if r.Incomplete != "" {
		wrap(&b, "Incomplete: "+r.Incomplete+".", on.Width)
	}
	b.WriteString("\n")
	wrap(&b, r.Summary, on.Width)
	b.WriteString("\nIDs a second:\n")
	writeBars(&b, last, on)
	text := b.String()
	if on.ASCII {
		text = ascii.Replace(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// ascii replaces characters by others of the same width.
var ascii = strings.NewReplacer("µ", "u", "–", "-", "…", "~")

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

// quickColumns are absolute figures first, and the ratio last. A header has two lines.
var quickColumns = []struct {
	head [2]string
	cell func(Figure) string
}{
	{[2]string{"IDs a", "second"}, func(f Figure) string { return inNineColumns(f.PerSecond.Median) }},
	{[2]string{"p50", "µs"}, func(f Figure) string { return quickTrip(f, "p50") }},
	{[2]string{"p99", "µs"}, func(f Figure) string { return quickTrip(f, "p99") }},
	{[2]string{"CPU", "µs"}, func(f Figure) string {
		if f.ServerCPU == nil {
			return "–"
		}
		if spent := f.ServerCPU.Median; spent < 1000 {
			return small(spent)
		}
		return inNineColumns(f.ServerCPU.Median)
	}},
	{[2]string{"to", Nextval}, func(f Figure) string {
		to, compared := f.Ratios[Nextval]
		switch {
		case f.Contender == Nextval:
			return "1"
		case !compared:
			return "–"
		case to.Median < 1000:
			return hundredths(to.Median)
		}
		return inNineColumns(to.Median)
	}},
}

func quickTrip(f Figure, of string) string {
	if took, measured := f.Latency[of]; measured {
		return inNineColumns(took.Median)
	}
	return "–"
}

const (
	gap       = 2  // columns between two columns of a table
	leastName = 10 // columns for a name, at least
)

// writeQuickTable writes the figures of one workload. Names get the room that the numbers leave.
func writeQuickTable(b *strings.Builder, figures []Figure, width int) {
	widths, room := make([]int, len(quickColumns)), width
	for i, c := range quickColumns {
		widths[i] = max(columns(c.head[0]), columns(c.head[1]))
		for _, f := range figures {
			widths[i] = max(widths[i], columns(c.cell(f)))
		}
		room -= gap + widths[i]
	}
	names := nameColumns(figures, room)
	line := func(name string, cell func(column int) string) {
		text := padded(name, names)
		for i := range quickColumns {
			text += strings.Repeat(" ", gap+widths[i]-columns(cell(i))) + cell(i)
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	for i := range 2 {
		line("", func(column int) string { return quickColumns[column].head[i] })
	}
	for _, f := range figures {
		line(plain(f.Contender), func(column int) string { return quickColumns[column].cell(f) })
	}
}

// nameColumns is the width for the names of contenders, at most room.
func nameColumns(figures []Figure, room int) (width int) {
	for _, f := range figures {
		width = max(width, columns(plain(f.Contender)))
	}
	return min(width, max(leastName, room))
}

// plain removes Markdown's marks from a name.
func plain(name string) string { return strings.ReplaceAll(name, "`", "") }

func columns(text string) int { return utf8.RuneCountInString(text) }

// shortened cuts a text to at most width columns.
func shortened(text string, width int) string {
	if columns(text) <= width {
		return text
	}
	return string([]rune(text)[:max(0, width-1)]) + "…"
}

// padded makes a text exactly width columns wide.
func padded(text string, width int) string {
	text = shortened(text, width)
	return text + strings.Repeat(" ", width-columns(text))
}

// wrap writes a text in lines of at most width columns. A wider word has a line of its own.
func wrap(b *strings.Builder, text string, width int) {
	used := 0
	for _, word := range strings.Fields(text) {
		switch n := columns(word); {
		case used == 0:
			used = n
		case used+1+n <= width:
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

// inNineColumns formats a number in groups of three digits. With eight digits or more it is Rounded.
func inNineColumns(f float64) string {
	if f < 9_999_999.5 {
		return Grouped(f)
	}
	return Rounded(f)
}

// Rounded formats a number with three significant digits: 12.3k, 4.57M.
func Rounded(f float64) string {
	switch {
	case f >= 1e9:
		return fmt.Sprintf("%.3gG", f/1e9)
	case f >= 999.5e3:
		return fmt.Sprintf("%.3gM", f/1e6)
	case f >= 999.5:
		return fmt.Sprintf("%.3gk", f/1e3)
	}
	return fmt.Sprintf("%.3g", f)
}
