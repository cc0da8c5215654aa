package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"pgflurry/bench"
	"pgflurry/bench/console"
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
	compare  string        // results.json of an older run; none if empty
	older    *bench.Report // that run, once it is read
	running  bench.Servers // those that run already, by their URLs; none if PostgreSQL has none
}

// flags defines the flags of a command whose turns take a given time.
func (m *measurement) flags(cmd *cobra.Command, duration, unit time.Duration) {
	m.unit = unit
	m.commonFlags(cmd)
	f := cmd.Flags()
	f.DurationVar(&m.duration, "duration", duration, fmt.Sprintf("how long a turn takes, in multiples of %v", unit))
	f.DurationVar(&m.warmUp, "warm-up", time.Second, "how long a turn takes in the round before the first, which does not count, in the same multiples; 0 for none")
}

// commonFlags are those that do not say how long a turn takes.
func (m *measurement) commonFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&m.out, "out", "", "folder for results.md, results.json and charts, made if absent (default: they are not written)")
	f.StringVar(&m.bin, "bin", "", "folder of PostgreSQL's programs (default: looked for)")
	f.StringVar(&m.program, "pgflurry", "", "the program pgflurry (default: beside this one, else built from the source here)")
	f.IntVar(&m.rounds, "rounds", 9, "how often each contender has its turn at each workload")
	f.StringVar(&m.compare, "compare", "", "results.json of an older run of this command: tells at the end what changed by more than chance")
	f.Uint64Var(&m.seed, "seed", 0, "decides the order of the turns (default: a random one, which is printed)")
}

// check refuses what cannot be measured, before anything starts.
func (m *measurement) check(cmd *cobra.Command) error {
	for _, c := range m.clients {
		if c < 1 || c > 200 {
			return fmt.Errorf("--clients has %d; expected 1 to 200", c)
		}
	}
	switch again, is := repeated(m.clients); {
	case is:
		return fmt.Errorf("--clients has %d twice; expected each number once", again)
	case m.rounds < 1:
		return fmt.Errorf("--rounds is %d; expected at least 1", m.rounds)
	case m.duration < m.unit || m.duration%m.unit != 0:
		return fmt.Errorf("--duration is %v; expected a multiple of %v", m.duration, m.unit)
	case m.warmUp < 0 || m.warmUp%m.unit != 0:
		return fmt.Errorf("--warm-up is %v; expected 0 or a multiple of %v", m.warmUp, m.unit)
	}
	if !cmd.Flags().Changed("seed") {
		m.seed = rand.Uint64()
	}
	return nil
}

// repeated finds a value that a list has twice: two trials of one name would be taken for one.
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
	report bench.Report // kind, title, and the command's own part of the command line
	bases  []string     // contenders that ratios are taken to
	// drivers are the modules that it measures with, beside pgbench.
	drivers []string
	// plan makes the trials, once the servers run; folder is a place for files.
	plan     func(ctx context.Context, servers bench.Servers, folder string, r *bench.Report) (bench.Plan, error)
	needs    bench.Needs
	cleanUp  func(ctx context.Context, servers bench.Servers) error // of servers that are not private; may be nil
	verdicts func([]bench.Trial, []bench.Figure) []bench.Verdict    // nil: there are no targets
}

// run measures and writes. What is finished is written even if it fails or is interrupted.
func (m *measurement) run(ctx context.Context, what subject, out, progress io.Writer) (err error) {
	if err := m.readOlder(what.report.Kind); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "pgflurry-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	servers, end, err := m.servers(ctx, folder, what, progress)
	defer func() { err = errors.Join(err, end()) }()
	if err != nil {
		return err
	}
	report, err := m.head(what, servers)
	if err != nil {
		return err
	}
	plan, err := what.plan(ctx, servers, folder, report)
	if err != nil {
		return err
	}
	plan.Rounds, plan.Duration, plan.WarmUp, plan.Seed = m.rounds, m.duration, m.warmUp, m.seed
	job := console.Job{Plan: plan, Report: report, Bases: what.bases, Verdicts: what.verdicts, Out: m.out}
	err = job.Run(ctx, out, progress)
	if len(report.Samples) == 0 {
		return err
	}
	return errors.Join(err, m.tellChanges(report, out))
}

// servers gives those that run already, or starts private ones. end is never nil.
func (m *measurement) servers(ctx context.Context, folder string, what subject, progress io.Writer) (_ bench.Servers, end func() error, err error) {
	nothing := func() error { return nil }
	if m.running.Postgres.URL != "" {
		servers, err := bench.Running(ctx, m.running)
		if err != nil || what.cleanUp == nil {
			return servers, nothing, err
		}
		return servers, func() error { return what.cleanUp(context.WithoutCancel(ctx), servers) }, nil
	}
	program, err := findProgram(ctx, m.program, folder)
	if err != nil {
		return bench.Servers{}, nothing, err
	}
	private, err := bench.StartPrivate(ctx, bench.PrivateSettings{
		Pgflurry: program, Bin: m.bin, Options: map[string]string{"max_connections": "500"},
		Say: func(what string) { fmt.Fprintln(progress, what) },
	})
	if err == nil {
		err = private.Start(ctx, what.needs)
	}
	return private.Servers, private.Stop, err
}

// head is all of a report that is known before the first turn.
func (m *measurement) head(what subject, servers bench.Servers) (*bench.Report, error) {
	r := what.report
	r.Began, r.Machine = time.Now(), bench.ThisMachine()
	r.Versions, r.Settings = bench.Modules(what.drivers...), make(map[string]string)
	turns := ""
	if r.Kind != bench.KindInserts {
		turns = fmt.Sprintf(" --clients %s --duration %v --warm-up %v", console.Numbers(m.clients), m.duration, m.warmUp)
		r.Settings["a turn"] = fmt.Sprintf("%v, after a warm-up of %v", m.duration, m.warmUp)
	}
	given := ""
	if m.running.Postgres.URL != "" {
		given = m.running.Options()
		r.Settings["servers"] = "ran already, with settings of their own, and may be on other machines than the client"
	} else {
		r.Settings["connections"], r.Settings["client and servers"] = "TCP over loopback, no TLS", "on one machine, with settings as they come but for those named here"
	}
	r.Command = fmt.Sprintf("pgflurry-bench %s%s%s --rounds %d --seed %d", r.Command, given, turns, m.rounds, m.seed)
	for name, server := range map[string]bench.Server{
		"PostgreSQL": servers.Postgres, "proxy": servers.Proxy, "PgBouncer": servers.Pooler, "Redis": servers.Redis, "MariaDB": servers.MariaDB, "idle proxy": servers.Idle,
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
	r.Versions["pgflurry-bench"], err = bench.Built(own)
	return &r, err
}
