package bench

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// Change is a figure of a run that differs from that of an older run by more than the noise of both.
type Change struct {
	Workload, Contender, What string
	Old, New                  Spread
	Better                    bool
}

// Comparison is what changed between two runs.
type Comparison struct {
	Changes []Change
	Looked  int      // at so many figures that both runs have
	Alone   []string // trials that one of the runs has alone
	// OtherMachine says that the runs were on different machines, or different numbers of CPUs; then only ratios are compared.
	OtherMachine bool
	// TooFew says that a run had fewer than leastRounds rounds; then nothing is compared, because quartiles say nothing.
	TooFew bool
}

const leastRounds = 3

// Compare finds the figures whose quartiles do not overlap: the middle halves of the rounds of both runs lie apart.
func Compare(before, after *Report) (Comparison, error) {
	if before.Kind != after.Kind {
		return Comparison{}, fmt.Errorf("the older run is of kind %q, this one is of kind %q; expected the same", before.Kind, after.Kind)
	}
	a, b := before.Machine, after.Machine
	c := Comparison{OtherMachine: a.Processor != b.Processor || a.CPUs != b.CPUs}
	olds := make(map[string]Figure)
	for _, f := range before.Figures {
		olds[f.Workload+": "+f.Contender] = f
	}
	for _, f := range after.Figures {
		name := f.Workload + ": " + f.Contender
		old, both := olds[name]
		delete(olds, name)
		if !both {
			c.Alone = append(c.Alone, name+" (new)")
			continue
		}
		c.look(old, f)
	}
	for _, f := range before.Figures { // in their order
		if name := f.Workload + ": " + f.Contender; len(olds) > 0 && olds[name].Workload != "" {
			c.Alone = append(c.Alone, name+" (only in the older run)")
		}
	}
	return c, nil
}

// look compares all that two figures of a trial have.
func (c *Comparison) look(before, after Figure) {
	if before.PerSecond.N < leastRounds || after.PerSecond.N < leastRounds {
		c.TooFew = true
		return
	}
	see := func(what string, higherIsBetter bool, old, now Spread, both bool) {
		if !both {
			return
		}
		c.Looked++
		if now.Low > old.High || now.High < old.Low {
			c.Changes = append(c.Changes, Change{after.Workload, after.Contender, what, old, now, (now.Median > old.Median) == higherIsBetter})
		}
	}
	for _, base := range []string{Nextval, Direct, PgBouncer} {
		old, had := before.Ratios[base]
		now, has := after.Ratios[base]
		see("to "+base, true, old, now, had && has)
	}
	old, had := before.CPURatios[Redis]
	now, has := after.CPURatios[Redis]
	see("processor time to "+Redis, false, old, now, had && has)
	if before.WAL != nil && after.WAL != nil {
		see("WAL bytes, each", false, *before.WAL, *after.WAL, true)
	}
	if before.Index != nil && after.Index != nil {
		see("bytes of the index", false, *before.Index, *after.Index, true)
	}
	if c.OtherMachine {
		return
	}
	see("per second", true, before.PerSecond, after.PerSecond, true)
	for _, p := range []string{"p50", "p99", "p99.9"} {
		old, had := before.Latency[p]
		now, has := after.Latency[p]
		see(p+", µs", false, old, now, had && has)
	}
	for _, role := range []string{Middle, Database} {
		old, had := before.CPU[role]
		now, has := after.CPU[role]
		see("µs of CPU, "+role, false, old, now, had && has)
	}
}

// Write says it to people.
func (c Comparison) Write(w io.Writer, than string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\ncompared with %s: %d of %d figures changed beyond the noise (quartiles that do not overlap)\n", than, len(c.Changes), c.Looked)
	if c.OtherMachine {
		b.WriteString("the machines differ: speeds are not compared, only ratios, WAL and sizes\n")
	}
	if c.TooFew {
		fmt.Fprintf(&b, "what has fewer than %d rounds in either run is not compared\n", leastRounds)
	}
	for _, change := range c.Changes {
		word := "worse"
		if change.Better {
			word = "better"
		}
		fmt.Fprintf(&b, "%-6s  %s, %s: %s  %s → %s%s\n", word, strings.ReplaceAll(change.Workload, "`", ""), change.Contender, change.What,
			spread(change.Old), spread(change.New), percent(change.Old.Median, change.New.Median))
	}
	for _, name := range c.Alone {
		fmt.Fprintf(&b, "not compared: %s\n", name)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// percent is by how much a figure rose; empty where it was 0.
func percent(old, now float64) string {
	if old == 0 {
		return ""
	}
	return fmt.Sprintf(", %+.0f %%", (now/old-1)*100)
}

// spread is one with as many digits as its size asks for.
func spread(s Spread) string {
	show := func(f float64) string {
		if math.Abs(f) < 100 {
			return fmt.Sprintf("%.2f", f)
		}
		return grouped(f)
	}
	return fmt.Sprintf("%s (%s – %s)", show(s.Median), show(s.Low), show(s.High))
}
