package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/aclements/go-moremath/stats"

	"pgflurry/bench/statistics"
	"pgflurry/bench/trial"
)

// Change is a figure that differs between two runs by more than the noise of both.
type Change struct {
	Workload, Contender, What string
	Old, New                  statistics.Spread
	Better                    bool
}

// Comparison is what changed between two runs.
type Comparison struct {
	Changes []Change
	Looked  int      // figures that both runs have
	Alone   []string // trials that only one of the runs has
	// Differs lists the versions, settings and machines that differ, each with both values.
	Differs []string
	// OtherMachine says that the runs were on different machines, or on different numbers of CPUs. Then only ratios are
	// compared.
	OtherMachine bool
	// TooFew says that a run had fewer than leastRounds rounds of something, which is not compared then.
	TooFew bool
}

const (
	// chance is the accepted risk that a figure differs although nothing changed. The Mann-Whitney U test judges that.
	// It assumes nothing about the distribution of figures. A check that quartiles do not overlap would be far weaker.
	// By chance alone, a third of all figures differ so with three rounds, and one in seventeen with nine.
	chance = 0.01
	// leastRounds is how many rounds the test needs. With five rounds, two runs lie wholly apart by chance once in 126
	// cases; with four, once in 35.
	leastRounds = 5
)

// Compare finds the figures whose rounds differ by more than chance.
func Compare(before, after *Report) (Comparison, error) {
	if before.Kind != after.Kind {
		return Comparison{}, fmt.Errorf("the older run is of kind %q, this one is of kind %q; expected the same",
			before.Kind, after.Kind)
	}
	a, b := before.Machine, after.Machine
	c := Comparison{OtherMachine: a.Processor != b.Processor || a.CPUs != b.CPUs}
	c.Differs = differing(before.around(), after.around())
	olds := make(map[string]Figure)
	for _, f := range before.Figures {
		olds[f.Workload+": "+f.Contender] = f
	}
	for _, f := range after.Figures {
		name := f.Workload + ": " + f.Contender
		_, both := olds[name]
		delete(olds, name)
		if !both {
			c.Alone = append(c.Alone, name+" (new)")
			continue
		}
		for _, seen := range c.aspects(f) {
			c.see(f, seen, seen.of(before.Samples), seen.of(after.Samples))
		}
	}
	for _, f := range before.Figures { // in the older run's order
		if name := f.Workload + ": " + f.Contender; len(olds) > 0 && olds[name].Workload != "" {
			c.Alone = append(c.Alone, name+" (only in the older run)")
		}
	}
	return c, nil
}

// around is the environment of a run.
func (r *Report) around() map[string]string {
	all := map[string]string{
		"processor": r.Machine.Processor, "CPUs": fmt.Sprint(r.Machine.CPUs), "system": r.Machine.System,
		"Go": r.Machine.Go,
	}
	for what, is := range r.Versions {
		all["version of "+what] = is
	}
	maps.Copy(all, r.Settings)
	return all
}

// differing lists the names with different values, with both values.
func differing(before, after map[string]string) (lines []string) {
	both := maps.Clone(before)
	maps.Copy(both, after)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if before[name] != after[name] {
			lines = append(lines,
				fmt.Sprintf("%s: %s → %s", name, cmp.Or(before[name], "unknown"), cmp.Or(after[name], "unknown")))
		}
	}
	return lines
}

// aspect is a part of a figure that can change, with its values in the rounds of a run.
type aspect struct {
	what           string
	higherIsBetter bool
	of             func([]trial.Sample) []float64
}

// aspects are the comparable parts of a figure.
func (c *Comparison) aspects(f Figure) (all []aspect) {
	for _, base := range []string{Nextval, Direct, PgBouncer} {
		if base != f.Contender {
			all = append(all, aspect{"to " + base, true, func(s []trial.Sample) []float64 {
				return ratios(s, f.Workload, f.Contender, base)
			}})
		}
	}
	if f.Contender != Redis {
		all = append(all, aspect{"processor time to " + Redis, false, func(s []trial.Sample) []float64 {
			return cpuRatios(s, f.Workload, f.Contender, Redis)
		}})
	}
	each := func(what string, higherIsBetter bool, of func(trial.Sample) (float64, bool)) {
		all = append(all, aspect{what, higherIsBetter, func(samples []trial.Sample) (values []float64) {
			for _, s := range samples {
				if value, measured := of(s); measured && s.Workload == f.Workload && s.Contender == f.Contender {
					values = append(values, value)
				}
			}
			return values
		}})
	}
	each("WAL bytes, each", false, trial.Sample.WALEach)
	each("bytes of the index", false, trial.Sample.IndexBytes)
	if c.OtherMachine {
		return all
	}
	each("per second", true, func(s trial.Sample) (float64, bool) { return s.PerSecond(), true })
	for _, p := range []string{trial.Mean, "p50", "p99", "p99.9"} {
		each(p+", µs", false, func(s trial.Sample) (float64, bool) {
			took, measured := s.Latency[p]
			return float64(took.Microseconds()), measured
		})
	}
	for _, role := range []string{trial.Middle, trial.Database} {
		each("µs of CPU, "+role, false, func(s trial.Sample) (float64, bool) { return s.CPUEach(role) })
	}
	return all
}

// see compares one thing that both runs have measured.
func (c *Comparison) see(f Figure, of aspect, before, after []float64) {
	if len(before) == 0 || len(after) == 0 {
		return
	}
	if min(len(before), len(after)) < leastRounds {
		c.TooFew = true
		return
	}
	c.Looked++
	test, err := stats.MannWhitneyUTest(before, after, stats.LocationDiffers)
	if err != nil || test.P >= chance { // the test fails if all values are equal
		return
	}
	old, now := statistics.SpreadOf(before), statistics.SpreadOf(after)
	c.Changes = append(c.Changes,
		Change{f.Workload, f.Contender, of.what, old, now, (now.Median > old.Median) == of.higherIsBetter})
}

// Write formats the comparison for people.
func (c Comparison) Write(w io.Writer, than string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\ncompared with %s: %d of %d figures changed by more than chance (Mann-Whitney U test of the "+
		"rounds, p < %v)\n", than, len(c.Changes), c.Looked, chance)
	if c.OtherMachine {
		b.WriteString("the machines differ: speeds are not compared, only ratios, WAL and sizes\n")
	}
	if c.TooFew {
		fmt.Fprintf(&b, "what has fewer than %d rounds in either run is not compared\n", leastRounds)
	}
	for _, what := range c.Differs {
		fmt.Fprintf(&b, "differs: %s\n", what)
	}
	for _, change := range c.Changes {
		word := "worse"
		if change.Better {
			word = "better"
		}
		fmt.Fprintf(&b, "%-6s  %s, %s: %s  %s → %s%s\n",
			word, strings.ReplaceAll(change.Workload, "`", ""), change.Contender, change.What,
			spread(change.Old), spread(change.New), percent(change.Old.Median, change.New.Median))
	}
	for _, name := range c.Alone {
		fmt.Fprintf(&b, "not compared: %s\n", name)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// percent formats how much a figure rose; empty if it was 0.
func percent(old, now float64) string {
	if old == 0 {
		return ""
	}
	return fmt.Sprintf(", %+.0f %%", (now/old-1)*100)
}

// spread formats a spread, with decimals only for small figures.
func spread(s statistics.Spread) string {
	show := func(f float64) string {
		if math.Abs(f) < 100 {
			return fmt.Sprintf("%.2f", f)
		}
		return Grouped(f)
	}
	return withQuartiles(&s, show)
}
