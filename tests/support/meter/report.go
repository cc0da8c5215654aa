package meter

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Report is the cost of faults, with a line for each kind.
type Report struct {
	Groups  []Group  `json:"groups"`
	Sources []string `json:"sources"`
	Lines   []Line   `json:"faults"`
	Total   Line     `json:"total"`
	Seen    []Seen   `json:"seen"`
}

// Group is a group of services that a table compares.
type Group struct {
	Name     string   `json:"name"`
	Services []string `json:"services"` // the columns, in order
}

// Line is one kind of fault.
type Line struct {
	Fault   string            `json:"fault"`
	Times   int               `json:"times"`
	Without map[string]Spread `json:"without"` // by service
	Given   map[string]int64  `json:"given"`   // by source: IDs during the reference's outages
	Lost    int               `json:"commitsLost"`
	Twice   int               `json:"idsTwice"`
}

// Spread is the distribution of outages of a service, in the faults of a kind.
type Spread struct {
	Faults  int      `json:"faults"`
	P50     Duration `json:"p50"`
	P90     Duration `json:"p90"`
	Worst   Duration `json:"worst"`
	NotBack int      `json:"notBack,omitempty"` // it was still away when the fault was over
}

// Seen is the first error that clients of a kind saw, in the faults of a kind.
type Seen struct {
	Fault  string `json:"fault"`
	Client string `json:"client"`
	Says   string `json:"says"`
	Times  int    `json:"times"`
}

// Duration is a duration in a table: seconds in JSON, two significant digits in text.
type Duration time.Duration

// MarshalJSON writes seconds.
func (d Duration) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%.3f", time.Duration(d).Seconds()), nil
}

func (d Duration) String() string {
	switch s := time.Duration(d).Seconds(); {
	case s < 0.0995:
		return fmt.Sprintf("%.0f ms", math.Round(s*1000))
	case s < 0.995:
		return fmt.Sprintf("%.2f s", s)
	case s < 9.95:
		return fmt.Sprintf("%.1f s", s)
	default:
		return fmt.Sprintf("%.0f s", s)
	}
}

// Report sums up, without a fault that still lasts.
func (m *Meter) Report() Report {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := Report{}
	for _, s := range m.series {
		at := slices.IndexFunc(r.Groups, func(g Group) bool { return g.Name == s.group })
		if at < 0 {
			at, r.Groups = len(r.Groups), append(r.Groups, Group{Name: s.group})
		}
		if g := &r.Groups[at]; !slices.Contains(g.Services, s.service) {
			g.Services = append(g.Services, s.service)
		}
	}
	total := &kind{
		name: "all", away: map[string][]time.Duration{}, open: map[string]int{}, given: map[string]int64{},
	}
	for _, k := range m.kinds {
		for source := range k.given {
			if !slices.Contains(r.Sources, source) {
				r.Sources = append(r.Sources, source)
			}
		}
		for saw, times := range k.seen {
			r.Seen = append(r.Seen, Seen{k.name, saw.client, saw.says, times})
		}
		if k.faults > 0 || k.lost+k.twice > 0 {
			r.Lines = append(r.Lines, k.line())
		}
		total.add(k)
	}
	slices.Sort(r.Sources)
	slices.SortFunc(r.Seen, func(a, b Seen) int {
		return cmp.Or(cmp.Compare(a.Fault, b.Fault), cmp.Compare(a.Says, b.Says), cmp.Compare(a.Client, b.Client))
	})
	r.Total = total.line()
	return r
}

func (k *kind) add(other *kind) {
	k.faults += other.faults
	k.lost += other.lost
	k.twice += other.twice
	for service, away := range other.away {
		k.away[service] = append(k.away[service], away...)
	}
	for service, times := range other.open {
		k.open[service] += times
	}
	for source, ids := range other.given {
		k.given[source] += ids
	}
}

func (k *kind) line() Line {
	l := Line{
		Fault: k.name, Times: k.faults, Without: map[string]Spread{}, Given: maps.Clone(k.given),
		Lost: k.lost, Twice: k.twice,
	}
	for service, away := range k.away {
		away = slices.Sorted(slices.Values(away))
		l.Without[service] = Spread{
			Faults: len(away), P50: rank(away, 50), P90: rank(away, 90), Worst: rank(away, 100),
			NotBack: k.open[service],
		}
	}
	return l
}

// rank returns the smallest value that is at least as great as this percentage of values.
func rank(sorted []time.Duration, percent int) Duration {
	if len(sorted) == 0 {
		return 0
	}
	return Duration(sorted[max(0, (len(sorted)*percent+99)/100-1)])
}

// Markdown returns the report for people as tables: times as p50 / worst for each group, counts, and what clients saw.
func (r Report) Markdown() string {
	lines := append(slices.Clone(r.Lines), r.Total)
	var b strings.Builder
	for _, g := range r.Groups {
		head(&b, append([]string{g.Name, "faults"}, g.Services...))
		for _, l := range lines {
			cells := []string{l.Fault, fmt.Sprint(l.Times)}
			for _, service := range g.Services {
				cells = append(cells, l.Without[service].String())
			}
			row(&b, cells)
		}
		b.WriteString("\n")
	}
	given := []string{"counts", "faults"}
	for _, source := range r.Sources {
		given = append(given, "IDs of "+source+" during it")
	}
	head(&b, append(given, "commits lost", "IDs twice"))
	for _, l := range lines {
		cells := []string{l.Fault, fmt.Sprint(l.Times)}
		for _, source := range r.Sources {
			cells = append(cells, Thousands(l.Given[source]))
		}
		row(&b, append(cells, fmt.Sprint(l.Lost), fmt.Sprint(l.Twice)))
	}
	r.writeSeen(&b)
	return b.String()
}

// writeSeen writes a line for each error of a fault, with the clients that saw it first.
func (r Report) writeSeen(b *strings.Builder) {
	type line struct{ fault, says string }
	var lines []line
	clients := map[line][]string{}
	for _, s := range r.Seen {
		l := line{s.Fault, s.Says}
		if clients[l] == nil {
			lines = append(lines, l)
		}
		clients[l] = append(clients[l], fmt.Sprintf("%s (%d)", s.Client, s.Times))
	}
	if len(lines) == 0 {
		return
	}
	b.WriteString("\n")
	row(b, []string{"fault", "first error that a client saw", "clients (how many)"})
	b.WriteString("|---|---|---|\n")
	for _, l := range lines {
		row(b, []string{l.fault, strings.ReplaceAll(l.says, "|", "\\|"), strings.Join(clients[l], "; ")})
	}
}

// head writes the head of a table. All columns but the first have numbers.
func head(b *strings.Builder, names []string) {
	row(b, names)
	fmt.Fprintf(b, "|---%s|\n", strings.Repeat("|---:", len(names)-1))
}

func row(b *strings.Builder, cells []string) { fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | ")) }

func (s Spread) String() string {
	if s.Faults == 0 {
		return "–"
	}
	text := fmt.Sprintf("%v / %v", s.P50, s.Worst)
	if s.NotBack > 0 {
		text += fmt.Sprintf(" (%d not back)", s.NotBack)
	}
	return text
}

// Thousands writes 1234567 as 1,234,567.
func Thousands(n int64) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
