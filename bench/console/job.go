package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"pgflurry/bench/charts"
	"pgflurry/bench/report"
	"pgflurry/bench/trial"
)

// Job is what a command measures.
type Job struct {
	Plan trial.Plan
	// Report has all that is known before the first turn; Run adds the rest.
	Report   *report.Report
	Bases    []string                                              // contenders that ratios are taken to
	Verdicts func([]trial.Trial, []report.Figure) []report.Verdict // nil: there are no targets
	Summary  func([]report.Figure) string                          // nil: the figures speak for themselves
	Screen   report.Screen                                         // for a quick look
	// folder for results and charts; empty: they are not written
	Out string
}

// Run measures, with the table on out and where it is on progress.
// What is finished is written even if it fails or ctx ends.
func (j Job) Run(ctx context.Context, out, progress io.Writer) error {
	j.announce(out)
	r := j.Report
	printLine, hide := showProgress(progress, &j.Plan)
	failed := 0
	j.Plan.Failed = func(round int, _ trial.Trial, why error) {
		line := fmt.Sprintf("%s (it failed in %s, and had no more turns)",
			strings.ReplaceAll(why.Error(), "\n", "; "), roundName(round, j.Plan.Rounds))
		printLine("not run: " + line)
		r.NotRun = append(r.NotRun, line)
		failed++
	}
	samples, err := trial.Run(ctx, j.Plan)
	hide()
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d trials failed, and are listed as not run; all others are measured",
			failed, len(j.Plan.Trials))
	}
	if err != nil {
		r.Incomplete = fmt.Sprintf("%v, after %d of %d turns", err, len(samples), j.Plan.Rounds*len(j.Plan.Trials))
	}
	r.Samples = samples
	r.Figures = report.Tabulate(j.Plan.Trials, samples, j.Bases)
	if j.Verdicts != nil {
		r.Verdicts = j.Verdicts(j.Plan.Trials, r.Figures)
	}
	if j.Summary != nil && len(samples) > 0 {
		r.Summary = j.Summary(r.Figures)
	}
	return errors.Join(err, j.show(out), j.write(out))
}

// show writes what was found, if anything was.
func (j Job) show(out io.Writer) error {
	switch {
	case len(j.Report.Samples) == 0:
		return nil
	case j.Report.Quick:
		return j.Report.WriteQuick(out, j.Screen)
	}
	return j.Report.WriteTable(out)
}

// announce prints what will be done before it is done.
func (j Job) announce(out io.Writer) {
	r := j.Report
	if r.Quick {
		fmt.Fprintf(out, "%s, %s, %s\n", r.Machine.Processor, trial.Counted(r.Machine.CPUs, "CPU"), r.Machine.System)
		j.announceTurns(out)
		return
	}
	fmt.Fprintf(out, "%s\n%s, %d CPUs, %s\n", r.Command, r.Machine.Processor, r.Machine.CPUs, r.Machine.System)
	for _, of := range []map[string]string{r.Versions, r.Settings} {
		for _, what := range slices.Sorted(maps.Keys(of)) {
			fmt.Fprintf(out, "%s: %s\n", what, of[what])
		}
	}
	j.announceTurns(out)
}

// announceTurns prints what has none, how many there are, and how long they take.
func (j Job) announceTurns(out io.Writer) {
	for _, what := range j.Report.NotRun {
		fmt.Fprintln(out, "not run:", what)
	}
	fmt.Fprintf(out, "%s, %s: about %v\n\n", trial.Counted(len(j.Plan.Trials), "trial"),
		trial.Counted(j.Plan.Rounds, "round"), j.Plan.Estimate().Round(time.Second))
}

// write puts results and charts into the folder.
func (j Job) write(out io.Writer) error {
	if j.Out == "" {
		return nil
	}
	if err := charts.WriteResults(j.Report, j.Out, out); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

// Numbers writes a list as a flag takes it: "1,16,64".
func Numbers(list []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
}
