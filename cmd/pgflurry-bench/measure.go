package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pgflurry/bench"
)

// measurement is what the commands have in common: their flags, private servers, turns, table and files.
type measurement struct {
	out      string
	bin      string
	program  string
	clients  []int
	rounds   int
	duration time.Duration
	warmUp   time.Duration
	seed     uint64
	unit     time.Duration // the driver's, of duration
}

// flags defines the flags that every measuring command has.
func (m *measurement) flags(cmd *cobra.Command, duration, unit time.Duration) {
	m.unit = unit
	f := cmd.Flags()
	f.StringVar(&m.out, "out", "", "folder for results.md, results.json and charts, made if absent (default: they are not written)")
	f.StringVar(&m.bin, "bin", "", "folder of PostgreSQL's programs (default: looked for)")
	f.StringVar(&m.program, "pgflurry", "", "the program pgflurry (default: beside this one, else built from the source here)")
	f.IntVar(&m.rounds, "rounds", 9, "how often each contender has its turn at each workload")
	f.DurationVar(&m.duration, "duration", duration, fmt.Sprintf("how long a turn takes, in multiples of %v", unit))
	f.DurationVar(&m.warmUp, "warm-up", time.Second, "how long a turn takes in the round before the first, which does not count; 0 for none")
	f.Uint64Var(&m.seed, "seed", 0, "decides the order of the turns (default: a random one, which is printed)")
}

// check refuses what cannot be measured, before anything starts.
func (m *measurement) check(cmd *cobra.Command) error {
	for _, c := range m.clients {
		if c < 1 || c > 200 {
			return fmt.Errorf("--clients has %d; expected 1 to 200", c)
		}
	}
	switch {
	case m.rounds < 1:
		return fmt.Errorf("--rounds is %d; expected at least 1", m.rounds)
	case m.duration < m.unit || m.duration%m.unit != 0:
		return fmt.Errorf("--duration is %v; expected a multiple of %v", m.duration, m.unit)
	case m.warmUp < 0:
		return fmt.Errorf("--warm-up is %v; expected 0 or more", m.warmUp)
	}
	if !cmd.Flags().Changed("seed") {
		m.seed = rand.Uint64()
	}
	return nil
}

// subject is what a command measures.
type subject struct {
	report bench.Report // kind, title, and the command's own part of the command line
	bases  []string     // contenders that ratios are taken to
	// plan makes the trials, once the servers run; folder is a place for files.
	plan     func(ctx context.Context, private *bench.Private, folder string, r *bench.Report) (bench.Plan, error)
	verdicts func([]bench.Trial, []bench.Figure) []bench.Verdict
}

// run measures and writes. What is finished is written even if it fails or is interrupted.
func (m *measurement) run(ctx context.Context, what subject, out, progress io.Writer) (err error) {
	folder, err := os.MkdirTemp("", "pgflurry-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	program, err := findProgram(ctx, m.program, folder)
	if err != nil {
		return err
	}
	private, err := bench.StartPrivate(ctx, bench.PrivateSettings{
		Pgflurry: program, Bin: m.bin, Options: map[string]string{"max_connections": "500"},
		Say: func(what string) { fmt.Fprintln(progress, what) },
	})
	defer func() { err = errors.Join(err, private.Stop()) }()
	if err != nil {
		return err
	}
	report := m.head(what.report, private)
	plan, err := what.plan(ctx, private, folder, report)
	if err != nil {
		return err
	}
	plan.Rounds, plan.Duration, plan.WarmUp, plan.Seed = m.rounds, m.duration, m.warmUp, m.seed
	announce(out, report, plan)
	end := showProgress(progress, &plan)
	samples, err := bench.Run(ctx, plan)
	end()
	if err != nil {
		report.Incomplete = fmt.Sprintf("%v, after %d of %d turns", err, len(samples), m.rounds*len(plan.Trials))
	}
	report.Samples = samples
	report.Figures = bench.Tabulate(plan.Trials, samples, what.bases)
	report.Verdicts = what.verdicts(plan.Trials, report.Figures)
	return errors.Join(err, report.WriteTable(out), m.write(report, out))
}

// head is all of a report that is known before the first turn.
func (m *measurement) head(r bench.Report, private *bench.Private) *bench.Report {
	r.Began, r.Machine = time.Now(), bench.ThisMachine()
	r.Command = fmt.Sprintf("pgflurry-bench %s --clients %s --rounds %d --duration %v --warm-up %v --seed %d", r.Command, numbers(m.clients), m.rounds, m.duration, m.warmUp, m.seed)
	r.Versions = map[string]string{"server": private.Postgres.Version, "proxy": private.Proxy.Version}
	r.Settings = map[string]string{"PostgreSQL": "as it comes but for max_connections = 500", "connections": "TCP over loopback, no TLS"}
	return &r
}

// announce prints what will be done before it is done.
func announce(out io.Writer, r *bench.Report, plan bench.Plan) {
	fmt.Fprintf(out, "%s\n%s, %d CPUs, %s\n", r.Command, r.Machine.Processor, r.Machine.CPUs, r.Machine.System)
	for _, what := range []string{"server", "driver", "proxy", "pooler"} {
		if version, ok := r.Versions[what]; ok {
			fmt.Fprintf(out, "%-7s %s\n", what, version)
		}
	}
	for _, what := range r.NotRun {
		fmt.Fprintln(out, "not run:", what)
	}
	fmt.Fprintf(out, "%d trials, %d rounds: about %v\n\n", len(plan.Trials), plan.Rounds, plan.Estimate().Round(time.Second))
}

func numbers(list []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
}
