package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgflurry/bench/driver"
	"pgflurry/bench/report"
	"pgflurry/bench/servers"
	"pgflurry/bench/suites"
	"pgflurry/bench/trial"
	"pgflurry/internal/fault"
)

// measurement is a command: a suite, its flags, and how it is run.
type measurement struct {
	suite suites.Suite
	// turn and warmUp are their lengths by default, in multiples of step: pgbench counts seconds.
	turn, warmUp, step time.Duration
	withoutServer      bool // everything runs in this process

	flags    *pflag.FlagSet
	rig      suites.Rig // its servers are those that are given; none if PostgreSQL has no URL
	rounds   int
	duration time.Duration
	seed     uint64
	out      string
	bin      string
	program  string
}

// command makes the command. check refuses what is wrong with its own flags; nil: it has none.
func (m *measurement) command(cmd *cobra.Command, check func() error) *cobra.Command {
	f := cmd.Flags()
	m.flags = f
	f.IntSliceVar(&m.rig.Clients, "clients", m.suite.Clients, "numbers of clients")
	if len(m.suite.Workloads) > 1 {
		f.StringSliceVar(&m.rig.Workloads, "workloads", m.suite.Workloads, "what to run")
	}
	f.IntVar(&m.rounds, "rounds", 5, "how often each contender has its turn at each workload")
	f.DurationVar(&m.duration, "duration", m.turn, fmt.Sprintf("how long a turn takes, in multiples of %v", m.step))
	f.DurationVar(&m.warmUp, "warm-up", m.warmUp,
		"how long a turn takes in the warm-up round, which does not count, in the same multiples; 0 for none")
	f.Uint64Var(&m.seed, "seed", rand.Uint64(), "seed for the order of the turns (default: a random one)")
	f.Lookup("seed").DefValue = ""
	f.StringVar(&m.out, "out", "",
		"folder for results.json, results.md and charts, made if absent (default: they are not written)")
	if !m.withoutServer {
		f.StringVar(&m.bin, "bin", "", "folder of PostgreSQL's programs (default: looked for)")
		f.StringVar(&m.program, "pgflurry", "",
			"the program pgflurry (default: beside this one, else built from the source here)")
	}
	cmd.Args = noArguments
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if check == nil {
			check = func() error { return nil }
		}
		if err := errors.Join(check(), m.check()); err != nil {
			return usage(err)
		}
		return m.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

// check refuses impossible measurements before anything starts.
func (m *measurement) check() error {
	for _, c := range m.rig.Clients {
		if c < 1 || c > mostClients {
			return fmt.Errorf("--clients is %d; expected 1 to %d", c, mostClients)
		}
	}
	switch {
	case m.rounds < 1:
		return fmt.Errorf("--rounds is %d; expected at least 1", m.rounds)
	case m.duration < m.step || m.duration%m.step != 0:
		return fmt.Errorf("--duration is %v; expected a multiple of %v", m.duration, m.step)
	case m.warmUp < 0 || m.warmUp%m.step != 0:
		return fmt.Errorf("--warm-up is %v; expected 0 or a multiple of %v", m.warmUp, m.step)
	}
	return errors.Join(among("--clients", m.rig.Clients, nil), among("--workloads", m.rig.Workloads, m.suite.Workloads))
}

// run measures and writes. It writes finished results even after a failure or an interrupt.
func (m *measurement) run(ctx context.Context, out, progress io.Writer) (err error) {
	if m.out != "" { // before hours of measuring are lost
		if err := os.MkdirAll(m.out, 0o755); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		tried, err := os.MkdirTemp(m.out, ".tried-")
		if err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		if err := os.Remove(tried); err != nil {
			return err
		}
	}
	folder, err := os.MkdirTemp("", "pgflurry-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	r := m.head()
	m.rig.Say = func(what string) {
		if !slices.Contains(r.NotRun, what) {
			r.NotRun = append(r.NotRun, what)
		}
	}
	if !m.withoutServer {
		var end func() error
		end, err = m.start(ctx, folder, r, progress)
		defer func() { err = errors.Join(err, end()) }()
		if err != nil {
			return err
		}
	}
	self, err := os.Executable()
	if err == nil {
		r.Versions["pgflurry-bench"], err = servers.Built(self)
	}
	if err != nil {
		return err
	}
	if m.suite.Prepare != nil {
		if err := m.suite.Prepare(ctx, m.rig); err != nil {
			return err
		}
	}
	plan, err := m.suite.Plan(m.rig)
	if err != nil {
		return err
	}
	plan.Rounds, plan.Duration, plan.WarmUp, plan.Seed = m.rounds, m.duration, m.warmUp, m.seed
	return m.measure(ctx, plan, r, out, progress)
}

// head is the report before the first turn.
func (m *measurement) head() *report.Report {
	command := m.rig.Options() + flag("workloads", m.rig.Workloads) + flag("sources", m.rig.Sources)
	if m.rig.Quick {
		command += " --quick"
	}
	if m.rig.Rows > 0 {
		command += fmt.Sprintf(" --rows %d", m.rig.Rows)
	}
	return &report.Report{
		Title: m.suite.Title, Began: time.Now(), Machine: report.ThisMachine(), Quick: m.rig.Quick,
		Versions: report.Modules(m.suite.Drivers...),
		Settings: map[string]string{"a turn": fmt.Sprintf("%v, after a warm-up of %v", m.duration, m.warmUp)},
		Command: fmt.Sprintf("pgflurry-bench %s%s%s --duration %v --warm-up %v --rounds %d --seed %d", m.name(),
			command, flag("clients", m.rig.Clients), m.duration, m.warmUp, m.rounds, m.seed),
	}
}

// name is the command's.
func (m *measurement) name() string { return strings.TrimPrefix(m.flags.Name(), "pgflurry-bench ") }

// flag is a flag with a list; empty if the list is.
func flag[T any](name string, list []T) string {
	if len(list) == 0 {
		return ""
	}
	return " --" + name + " " + strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
}

// start takes the given servers, or starts private ones. end is never nil.
func (m *measurement) start(ctx context.Context, folder string, r *report.Report, progress io.Writer) (end func() error,
	err error,
) {
	const both = "client and servers"
	end = func() error { return nil }
	if m.rig.Postgres.URL != "" {
		r.Settings[both] = "the servers ran already, with settings of their own, and may be on other machines"
		on, err := servers.Running(ctx, m.rig.Servers)
		if err != nil {
			return end, fault.WithKind(fault.Unreachable, err)
		}
		m.rig.Servers = on
		end = func() error { return m.suite.CleanUp(context.WithoutCancel(ctx), on) }
	} else {
		r.Settings["connections"] = "TCP over loopback, no TLS"
		r.Settings[both] = "on one machine, with settings as they come but for those named here"
		program, err := findProgram(ctx, m.program, folder, progress)
		if err != nil {
			return end, err
		}
		private, err := servers.StartPrivate(ctx, servers.PrivateSettings{
			Pgflurry: program, Bin: m.bin, Say: func(what string) { fmt.Fprintln(progress, what) },
		})
		end = private.Stop
		if err == nil {
			needs := servers.Needs{}
			if m.suite.Needs != nil {
				needs = m.suite.Needs(m.rig)
			}
			err = private.Start(ctx, needs)
		}
		if err != nil {
			return end, err
		}
		took, err := private.Fsync()
		if err != nil {
			return end, err
		}
		r.Settings["an fsync (median of 100)"] = took.Round(time.Microsecond).String()
		m.rig.Servers = private.Servers
	}
	for name, server := range map[string]servers.Server{
		"PostgreSQL": m.rig.Postgres, "proxy": m.rig.Proxy, "PgBouncer": m.rig.Pooler, "Redis": m.rig.Redis,
		"ID database": m.rig.IDDatabase, "HAProxy": m.rig.Balancer, "C compiler": m.rig.Least,
	} {
		if server.Version != "" {
			r.Versions[name] = server.Version
		}
		if server.Setting != "" {
			r.Settings[name] = server.Setting
		}
	}
	m.rig.Pgbench, err = driver.NewPgbench(ctx, m.rig.Binaries, folder, suites.Scripts)
	if err == nil {
		r.Versions["pgbench"] = m.rig.Pgbench.Version
	}
	return end, err
}

// measure runs the plan, shows its progress, and writes what it found.
func (m *measurement) measure(ctx context.Context, p trial.Plan, r *report.Report, out, progress io.Writer) error {
	announce(out, r, p)
	announced, failed := -1, 0
	p.Progress = func(behind time.Duration, round int) {
		if round != announced {
			fmt.Fprintf(progress, "%s; about %v left\n", roundName(round, p.Rounds),
				(p.Estimate() - behind).Round(time.Second))
			announced = round
		}
	}
	p.Failed = func(round int, _ trial.Trial, why error) {
		line := fmt.Sprintf("%s (it failed in %s, and had no more turns)",
			strings.ReplaceAll(why.Error(), "\n", "; "), roundName(round, p.Rounds))
		fmt.Fprintln(progress, "not run:", line)
		r.NotRun = append(r.NotRun, line)
		failed++
	}
	samples, err := trial.Run(ctx, p)
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d trials failed, and are listed as not run; all others are measured",
			failed, len(p.Trials))
	}
	if err != nil {
		r.Incomplete = fmt.Sprintf("%v, after %d of %d turns", err, len(samples), p.Rounds*len(p.Trials))
	}
	r.Samples, r.Figures = samples, report.Tabulate(p.Trials, samples, m.suite.Bases)
	if m.suite.Verdicts != nil {
		r.Verdicts = m.suite.Verdicts(r.Figures)
	}
	if len(samples) > 0 {
		show := r.WriteTable
		if r.Quick {
			r.Summary = m.suite.Summary(r.Figures)
			show = r.WriteQuick
		}
		err = errors.Join(err, show(out))
	}
	if m.out != "" {
		if failure := r.Write(m.out, out); failure != nil {
			err = errors.Join(err, fmt.Errorf("--out: %w", failure))
		}
	}
	return err
}

// announce describes the measurement before it begins.
func announce(out io.Writer, r *report.Report, p trial.Plan) {
	machine := fmt.Sprintf("%s, %s, %s", r.Machine.Processor, trial.Counted(r.Machine.CPUs, "CPU"), r.Machine.System)
	if r.Quick {
		fmt.Fprintln(out, machine)
	} else {
		fmt.Fprintf(out, "%s\n%s\n%s\n%s\n", r.Command, machine, report.Pairs(r.Versions, ": ", "\n"),
			report.Pairs(r.Settings, ": ", "\n"))
	}
	for _, what := range r.NotRun {
		fmt.Fprintln(out, "not run:", what)
	}
	fmt.Fprintf(out, "%s, %s: about %v\n\n", trial.Counted(len(p.Trials), "trial"), trial.Counted(p.Rounds, "round"),
		p.Estimate().Round(time.Second))
}

func roundName(round, of int) string {
	if round == 0 {
		return "warm-up"
	}
	return fmt.Sprintf("round %d of %d", round, of)
}
