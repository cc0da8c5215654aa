package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pgflurry/bench"
)

// proxySettings are the flags of proxy.
type proxySettings struct {
	out       string
	bin       string
	program   string
	workloads []string
	clients   []int
	rounds    int
	duration  time.Duration
	warmUp    time.Duration
	seed      uint64
}

func newProxy() *cobra.Command {
	var s proxySettings
	cmd := &cobra.Command{
		Use:   "proxy",
		Short: "What a statement costs that the proxy only passes on",
		Long: `proxy starts a private PostgreSQL, the proxy and, if it is installed, PgBouncer in session mode, and gives the same work to
PostgreSQL directly and through each of the two:

  select     SELECT 1 with pgbench, simple, extended and prepared, for each number of --clients
  pipelined  50 statements a round trip with pgbench, 8 clients
  rows       1,000,000 rows out
  copy       1,000,000 rows in by COPY

The contenders take turns in every round. It prints a table, and writes it to results.md and everything to results.json. Ctrl-C
ends it early and still writes what is finished. Nothing stays running, and no data stays.`,
		Example: `  pgflurry-bench proxy --out results
  pgflurry-bench proxy --workloads select --clients 16 --rounds 3 --duration 2s`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("seed") {
				s.seed = rand.Uint64()
			}
			return s.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&s.out, "out", "", "folder for results.md and results.json, made if absent (default: they are not written)")
	f.StringVar(&s.bin, "bin", "", "folder of PostgreSQL's programs (default: looked for)")
	f.StringVar(&s.program, "pgflurry", "", "the program pgflurry (default: beside this one, else built from the source here)")
	f.StringSliceVar(&s.workloads, "workloads", bench.PassThroughWorkloads, "what to run")
	f.IntSliceVar(&s.clients, "clients", []int{1, 16, 64}, "numbers of clients of select")
	f.IntVar(&s.rounds, "rounds", 9, "how often each contender has its turn at each workload")
	f.DurationVar(&s.duration, "duration", 10*time.Second, "how long a turn takes, in whole seconds")
	f.DurationVar(&s.warmUp, "warm-up", time.Second, "how long a turn takes in the round before the first, which does not count; 0 for none")
	f.Uint64Var(&s.seed, "seed", 0, "decides the order of the turns (default: a random one, which is printed)")
	return cmd
}

func (s proxySettings) check() error {
	for _, w := range s.workloads {
		if !slices.Contains(bench.PassThroughWorkloads, w) {
			return fmt.Errorf("--workloads has %q; expected some of %s", w, strings.Join(bench.PassThroughWorkloads, ", "))
		}
	}
	for _, c := range s.clients {
		if c < 1 || c > 200 {
			return fmt.Errorf("--clients has %d; expected 1 to 200", c)
		}
	}
	switch {
	case s.rounds < 1:
		return fmt.Errorf("--rounds is %d; expected at least 1", s.rounds)
	case s.duration < time.Second || s.duration%time.Second != 0:
		return fmt.Errorf("--duration is %v; expected whole seconds, at least 1s", s.duration)
	case s.warmUp < 0:
		return fmt.Errorf("--warm-up is %v; expected 0 or more", s.warmUp)
	}
	return nil
}

// run measures and writes. What is finished is written even if it fails or is interrupted.
func (s proxySettings) run(ctx context.Context, out, progress io.Writer) (err error) {
	if err := s.check(); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "pgflurry-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	program, err := findProgram(ctx, s.program, folder)
	if err != nil {
		return err
	}
	private, err := bench.StartPrivate(ctx, bench.PrivateSettings{
		Pgflurry: program, Bin: s.bin, Options: map[string]string{"max_connections": "500"},
		Say: func(what string) { fmt.Fprintln(progress, what) },
	})
	defer func() { err = errors.Join(err, private.Stop()) }()
	if err != nil {
		return err
	}
	pgbench, err := bench.NewPgbench(ctx, private.Binaries, folder)
	if err != nil {
		return err
	}
	plan, err := s.plan(ctx, private, pgbench)
	if err != nil {
		return err
	}
	report := s.report(private, pgbench)
	s.announce(out, report, plan)
	end := showProgress(progress, &plan)
	samples, err := bench.Run(ctx, plan)
	end()
	if err != nil {
		report.Incomplete = fmt.Sprintf("%v, after %d of %d turns", err, len(samples), s.rounds*len(plan.Trials))
	}
	report.Samples = samples
	report.Figures = bench.Tabulate(plan.Trials, samples, []string{bench.Direct, bench.PgBouncer})
	report.Verdicts = bench.PassThroughVerdicts(plan.Trials, report.Figures)
	return errors.Join(err, report.WriteTable(out), s.write(report, out))
}

func (s proxySettings) plan(ctx context.Context, private *bench.Private, pgbench *bench.Pgbench) (bench.Plan, error) {
	b := bench.PassThrough{Servers: private.Servers, Pgbench: pgbench, Workloads: s.workloads, Clients: s.clients}
	if slices.Contains(s.workloads, bench.RowsWorkload) || slices.Contains(s.workloads, bench.CopyWorkload) {
		rows, err := bench.NewRows(ctx, private.Postgres.URL)
		if err != nil {
			return bench.Plan{}, err
		}
		b.Rows = rows
	}
	plan, err := b.Plan()
	plan.Rounds, plan.Duration, plan.WarmUp, plan.Seed = s.rounds, s.duration, s.warmUp, s.seed
	return plan, err
}

// report is the head of one: all that is known before the first turn.
func (s proxySettings) report(private *bench.Private, pgbench *bench.Pgbench) *bench.Report {
	r := &bench.Report{
		Title: "Statements that are passed on", Began: time.Now(), Machine: bench.ThisMachine(),
		Command: fmt.Sprintf("pgflurry-bench proxy --workloads %s --clients %s --rounds %d --duration %v --warm-up %v --seed %d",
			strings.Join(s.workloads, ","), numbers(s.clients), s.rounds, s.duration, s.warmUp, s.seed),
		Versions: map[string]string{"server": private.Postgres.Version, "driver": pgbench.Version, "proxy": private.Proxy.Version, "pooler": private.Pooler.Version},
		Settings: map[string]string{"PostgreSQL": "as it comes but for max_connections = 500", "connections": "TCP over loopback, no TLS"},
	}
	if private.Pooler.Missing != "" {
		r.Versions["pooler"] = "none"
		r.NotRun = append(r.NotRun, bench.PgBouncer+": "+private.Pooler.Missing)
	}
	return r
}

// announce prints what will be done before it is done.
func (s proxySettings) announce(out io.Writer, r *bench.Report, plan bench.Plan) {
	fmt.Fprintf(out, "%s\n%s, %d CPUs, %s\n", r.Command, r.Machine.Processor, r.Machine.CPUs, r.Machine.System)
	for _, what := range []string{"server", "driver", "proxy", "pooler"} {
		fmt.Fprintf(out, "%-7s %s\n", what, r.Versions[what])
	}
	for _, what := range r.NotRun {
		fmt.Fprintln(out, "not run:", what)
	}
	fmt.Fprintf(out, "%d trials, %d rounds: about %v\n\n", len(plan.Trials), plan.Rounds, plan.Estimate().Round(time.Second))
}

// write puts the two files into --out.
func (s proxySettings) write(r *bench.Report, out io.Writer) error {
	if s.out == "" {
		return nil
	}
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	for name, write := range map[string]func(io.Writer) error{"results.md": r.WriteMarkdown, "results.json": r.WriteJSON} {
		file, err := os.Create(filepath.Join(s.out, name))
		if err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		if err := errors.Join(write(file), file.Close()); err != nil {
			return fmt.Errorf("%s: %w", file.Name(), err)
		}
	}
	fmt.Fprintf(out, "\nwritten: %s and results.json beside it\n", filepath.Join(s.out, "results.md"))
	return nil
}

func numbers(list []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
}
