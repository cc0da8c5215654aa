package report

import (
	"fmt"
	"slices"
	"strings"

	"pgflurry/bench/statistics"
	"pgflurry/bench/trial"
)

// facet is one property that a workload shows of a contender.
type facet struct {
	workload string
	what     string
	cell     func(Figure) string
}

// facets are the properties in the order of the workloads. A workload shows the memory of a connection if that was
// measured. If its question is the time of a round trip, it shows that. Otherwise it shows throughput and processor
// time.
func (r *Report) facets() (all []facet) {
	var seen []string
	for _, f := range r.Figures {
		if slices.Contains(seen, f.Workload) {
			continue
		}
		seen = append(seen, f.Workload)
		add := func(what string, cell func(Figure) string) { all = append(all, facet{f.Workload, what, cell}) }
		spent := func() {
			add("µs of CPU in all servers, each", func(f Figure) string { return withQuartiles(f.ServerCPU, small) })
		}
		took := func(names ...string) {
			for _, name := range names {
				add(name+", ms", func(f Figure) string { return milliseconds(f, name) })
			}
		}
		switch {
		case f.Memory != nil:
			add("KiB of memory, each", memory)
		case f.Counts == "connections":
			took("p50", "p99")
			spent()
		case strings.Contains(f.Task, "beside"):
			took("p50", "p99", trial.Max)
		default:
			add(f.Counts+" per second", func(f Figure) string { return withQuartiles(&f.PerSecond, Grouped) })
			spent()
		}
	}
	return all
}

// writeAcross writes one column for each contender, so that all its figures stand together.
func (r *Report) writeAcross(b *strings.Builder) {
	var contenders []string
	for _, f := range r.Figures {
		if !slices.Contains(contenders, f.Contender) {
			contenders = append(contenders, f.Contender)
		}
	}
	head := "Medians and quartiles"
	if r.rounds() == 1 {
		head = "Figures of one round"
	}
	fmt.Fprintf(b, "%s:\n\n| | | %s |\n|---|---|%s\n", head, strings.Join(contenders, " | "),
		strings.Repeat("--:|", len(contenders)))
	said := ""
	for _, of := range r.facets() {
		workload := of.workload
		if workload == said {
			workload = "…"
		}
		said = of.workload
		fmt.Fprintf(b, "| %s | %s ", workload, of.what)
		for _, contender := range contenders {
			cell := "–"
			if at := slices.IndexFunc(r.Figures, func(f Figure) bool {
				return f.Workload == of.workload && f.Contender == contender
			}); at >= 0 {
				cell = of.cell(r.Figures[at])
			}
			fmt.Fprintf(b, "| %s ", cell)
		}
		b.WriteString("|\n")
	}
	b.WriteString("\nAll figures:\n\n")
}

// withQuartiles formats a spread; nil means not measured. A figure of one round has no quartiles.
func withQuartiles(s *statistics.Spread, number func(float64) string) string {
	switch {
	case s == nil:
		return notMeasured
	case s.N == 1:
		return number(s.Median)
	}
	return fmt.Sprintf("%s (%s – %s)", number(s.Median), number(s.Low), number(s.High))
}

// rounds is the greatest number of rounds of a figure.
func (r *Report) rounds() (most int) {
	for _, f := range r.Figures {
		most = max(most, f.PerSecond.N)
	}
	return most
}

func milliseconds(f Figure, of string) string {
	took, measured := f.Latency[of]
	if !measured {
		return notMeasured
	}
	took = took.Times(1e-3)
	return withQuartiles(&took, small)
}
