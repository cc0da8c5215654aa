package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"pgflurry/bench/console"
	"pgflurry/bench/report"
	"pgflurry/bench/servers"
	"pgflurry/bench/trial"
	"pgflurry/internal/fault"
)

// measurement is common to all commands: flags, private servers, turns, table and files.
type measurement struct {
	out      string
	bin      string
	program  string
	clients  []int  // numbers of clients, or of goroutines
	counts   string // "clients" or "goroutines", and the flag of that name
	most     int    // limit of these numbers
	rounds   int
	duration time.Duration
	warmUp   time.Duration
	seed     uint64
	step     time.Duration   // of the driver: duration is a multiple of it
	running  servers.Servers // given by URLs; none if PostgreSQL has no URL
}

// clientsFlag adds the flag with the numbers of clients or goroutines.
func (m *measurement) clientsFlag(cmd *cobra.Command, name, usage string, numbers []int, most int) {
	m.counts, m.most = name, most
	cmd.Flags().IntSliceVar(&m.clients, name, numbers, usage)
}

// turnFlags adds the flags of commands whose turns have a fixed length.
func (m *measurement) turnFlags(cmd *cobra.Command, duration, warmUp, step time.Duration) {
	m.step = step
	f := cmd.Flags()
	f.DurationVar(&m.duration, "duration", duration, fmt.Sprintf("how long a turn takes, in multiples of %v", step))
	f.DurationVar(&m.warmUp, "warm-up", warmUp,
		"how long a turn takes in the warm-up round, which does not count, in the same multiples; 0 for none")
}

// serverFlags adds the flags of commands that start servers.
func (m *measurement) serverFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&m.bin, "bin", "", "folder of PostgreSQL's programs (default: looked for)")
	f.StringVar(&m.program, "pgflurry", "",
		"the program pgflurry (default: beside this one, else built from the source here)")
}

// commonFlags adds the flags of every command.
func (m *measurement) commonFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&m.out, "out", "",
		"folder for results.md, results.json and charts, made if absent (default: they are not written)")
	f.IntVar(&m.rounds, "rounds", 9, "how often each contender has its turn at each workload")
	f.Uint64Var(&m.seed, "seed", 0, "seed for the order of the turns (default: a random one, which is printed)")
}

// check refuses impossible measurements before anything starts.
func (m *measurement) check(cmd *cobra.Command) error {
	for _, c := range m.clients {
		if c < 1 || c > m.most {
			return fmt.Errorf("--%s has %d; expected 1 to %d", m.counts, c, m.most)
		}
	}
	switch again, is := repeated(m.clients); {
	case is:
		return fmt.Errorf("--%s has %d twice; expected each number once", m.counts, again)
	case m.rounds < 1:
		return fmt.Errorf("--rounds is %d; expected at least 1", m.rounds)
	case m.duration < m.step || m.duration%m.step != 0:
		return fmt.Errorf("--duration is %v; expected a multiple of %v", m.duration, m.step)
	case m.warmUp < 0 || m.warmUp%m.step != 0:
		return fmt.Errorf("--warm-up is %v; expected 0 or a multiple of %v", m.warmUp, m.step)
	}
	if !cmd.Flags().Changed("seed") {
		m.seed = rand.Uint64()
	}
	return nil
}

// repeated finds a value that is twice in a list. Two trials with one name would be mixed up.
func repeated[T comparable](list []T) (again T, is bool) {
	for i, value := range list {
		if slices.Contains(list[:i], value) {
			return value, true
		}
	}
	return again, false
}

// subject is what a command measures.
type subject struct {
	report report.Report // kind, title, and the command's part of the command line
	bases  []string      // contenders for ratios
	// modules that it measures with, besides pgbench
	drivers []string
	// makes the trials when the servers run; folder is for temporary files
	plan     func(ctx context.Context, on servers.Servers, folder string, r *report.Report) (trial.Plan, error)
	needs    servers.Needs
	cleanUp  func(ctx context.Context, on servers.Servers) error   // of servers that are not private; may be nil
	verdicts func([]trial.Trial, []report.Figure) []report.Verdict // nil: no targets
	summary  func([]report.Figure) string                          // nil: no summary
	// everything runs in this process
	withoutServer bool
}

// takesResults creates the folder of --out and writes to it, before hours of measuring are lost.
func (m *measurement) takesResults() error {
	if m.out == "" {
		return nil
	}
	if err := os.MkdirAll(m.out, 0o755); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	tried, err := os.MkdirTemp(m.out, ".tried-")
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return os.Remove(tried)
}

// run measures and writes. It writes finished results even after a failure or an interrupt.
func (m *measurement) run(ctx context.Context, what subject, out, progress io.Writer) (err error) {
	what.report.Settings = m.settings(what)
	if err := m.takesResults(); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "pgflurry-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	on, end, err := m.start(ctx, folder, what, progress)
	defer func() { err = errors.Join(err, end()) }()
	if err != nil {
		return err
	}
	r, err := m.head(what, on)
	if err != nil {
		return err
	}
	plan, err := what.plan(ctx, on, folder, r)
	if err != nil {
		return err
	}
	plan.Rounds, plan.Duration, plan.WarmUp, plan.Seed = m.rounds, m.duration, m.warmUp, m.seed
	job := console.Job{
		Plan: plan, Report: r, Bases: what.bases, Verdicts: what.verdicts, Summary: what.summary, Out: m.out,
		Screen: screenOf(out),
	}
	return job.Run(ctx, out, progress)
}

// start returns the given servers, or starts private ones. end is never nil.
func (m *measurement) start(
	ctx context.Context, folder string, what subject, progress io.Writer,
) (_ servers.Servers, end func() error, err error) {
	nothing := func() error { return nil }
	if what.withoutServer {
		return servers.Servers{}, nothing, nil
	}
	if m.running.Postgres.URL != "" {
		on, err := servers.Running(ctx, m.running)
		if err != nil || what.cleanUp == nil {
			return on, nothing, fault.WithKind(fault.Unreachable, err)
		}
		return on, func() error { return what.cleanUp(context.WithoutCancel(ctx), on) }, nil
	}
	program, err := findProgram(ctx, m.program, folder, progress)
	if err != nil {
		return servers.Servers{}, nothing, err
	}
	private, err := servers.StartPrivate(ctx, servers.PrivateSettings{
		Pgflurry: program, Bin: m.bin, Options: map[string]string{"max_connections": "500"},
		Say: func(what string) { fmt.Fprintln(progress, what) },
	})
	if err == nil {
		err = private.Start(ctx, what.needs)
	}
	return private.Servers, private.Stop, err
}

// settings are the settings from flags.
func (m *measurement) settings(what subject) map[string]string {
	all := maps.Clone(what.report.Settings)
	if all == nil {
		all = make(map[string]string)
	}
	if what.report.Kind != report.KindInserts {
		all["a turn"] = fmt.Sprintf("%v, after a warm-up of %v", m.duration, m.warmUp)
	}
	const both = "client and servers"
	switch {
	case what.withoutServer:
	case m.running.Postgres.URL != "":
		all[both] = "the servers ran already, with settings of their own, and may be on other machines than the client"
	default:
		all["connections"] = "TCP over loopback, no TLS"
		all[both] = "on one machine, with settings as they come but for those named here"
	}
	return all
}

// head is the report before the first turn.
func (m *measurement) head(what subject, on servers.Servers) (*report.Report, error) {
	r := what.report
	r.Began, r.Machine = time.Now(), report.ThisMachine()
	r.Versions = report.Modules(what.drivers...)
	turns := ""
	if r.Kind != report.KindInserts {
		turns = fmt.Sprintf(" --%s %s --duration %v --warm-up %v",
			m.counts, console.Numbers(m.clients), m.duration, m.warmUp)
	}
	given := m.running.Options()
	r.Command = fmt.Sprintf("pgflurry-bench %s%s%s --rounds %d --seed %d", r.Command, given, turns, m.rounds, m.seed)
	for name, server := range map[string]servers.Server{
		"PostgreSQL": on.Postgres, "proxy": on.Proxy, "PgBouncer": on.Pooler, "Redis": on.Redis, "MariaDB": on.MariaDB,
		"idle proxy": on.Idle, "ID database": on.IDDatabase, "HAProxy": on.Balancer, "C compiler": on.Limit,
	} {
		if server.Version != "" {
			r.Versions[name] = server.Version
		}
		if server.Setting != "" {
			r.Settings[name] = server.Setting
		}
	}
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r.Versions["pgflurry-bench"], err = servers.Built(own)
	return &r, err
}
