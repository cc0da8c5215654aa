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

// Job is a measurement of a command.
type Job struct {
	Plan trial.Plan
	// Report is what is known before the first turn. Run adds the rest.
	Report   *report.Report
	Bases    []string                                              // contenders for ratios
	Verdicts func([]trial.Trial, []report.Figure) []report.Verdict // nil: no targets
	Summary  func([]report.Figure) string                          // nil: no summary
	Screen   report.Screen                                         // for a quick look
	// folder for results and charts; empty: none are written
	Out string
}

// Run measures. It writes the table to out, and its progress to progress. If it fails or ctx ends, it still writes
// finished results.
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

// show writes the results, if there are any.
func (j Job) show(out io.Writer) error {
	switch {
	case len(j.Report.Samples) == 0:
		return nil
	case j.Report.Quick:
		return j.Report.WriteQuick(out, j.Screen)
	}
	return j.Report.WriteTable(out)
}

// announce describes the measurement before it begins.
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

// announceTurns lists what gets no turns, and says how many turns there are and how long they take.
func (j Job) announceTurns(out io.Writer) {
	for _, what := range j.Report.NotRun {
		fmt.Fprintln(out, "not run:", what)
	}
	fmt.Fprintf(out, "%s, %s: about %v\n\n", trial.Counted(len(j.Plan.Trials), "trial"),
		trial.Counted(j.Plan.Rounds, "round"), j.Plan.Estimate().Round(time.Second))
}

// write writes results and charts into the folder.
func (j Job) write(out io.Writer) error {
	if j.Out == "" {
		return nil
	}
	if err := charts.WriteResults(j.Report, j.Out, out); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

// Numbers formats a list as a flag takes it: "1,16,64".
func Numbers(list []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
}
