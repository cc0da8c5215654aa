package suites

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/bench/driver"
	"pgflurry/bench/report"
	"pgflurry/bench/servers"
	"pgflurry/bench/trial"
)

// Suite is what a command measures.
type Suite struct {
	Title string
	// Workloads are what --workloads chooses from, in order.
	Workloads []string
	Clients   []int    // numbers of clients, by default
	Bases     []string // contenders for ratios
	Drivers   []string // modules that it measures with, besides pgbench
	// Needs are the servers that the chosen trials ask, besides PostgreSQL and the proxy.
	Needs func(Rig) servers.Needs
	// Prepare creates what the trials need; nil: nothing.
	Prepare func(context.Context, Rig) error
	Plan    func(Rig) (trial.Plan, error)
	// CleanUp removes from given servers what Prepare has created; nil: they are never given.
	CleanUp  func(context.Context, servers.Servers) error
	Verdicts func([]report.Figure) []report.Verdict // nil: no targets
	Summary  func([]report.Figure) string           // nil: no summary
}

// Rig is what a plan is made for.
type Rig struct {
	servers.Servers
	Pgbench   *driver.Pgbench
	Workloads []string // the chosen ones
	Clients   []int    // the chosen numbers of them
	Sources   []string // keys of the chosen sources; empty: all
	Quick     bool
	Rows      int // of the suite Inserts
	// Say notes what is not run, and why.
	Say func(what string)
}

// Scripts are those of pgbench.
//
//go:embed pgbench/*.sql sources/*.sql
var Scripts embed.FS

// place is the server that a contender asks.
type place int

const (
	fromPostgres place = iota
	fromProxy
	fromPooler
	fromBalancer
	fromIDDatabase
	fromLeast
	fromRedis
	fromMemory // of this process, which leases a worker from PostgreSQL
)

// of returns that server.
func (p place) of(s servers.Servers) servers.Server {
	return [...]servers.Server{
		fromPostgres: s.Postgres, fromProxy: s.Proxy, fromPooler: s.Pooler, fromBalancer: s.Balancer,
		fromIDDatabase: s.IDDatabase, fromLeast: s.Least, fromRedis: s.Redis,
		fromMemory: s.Postgres,
	}[p]
}

// inFront says that it is in front of PostgreSQL.
func (p place) inFront() bool { return p == fromProxy || p == fromPooler || p == fromBalancer }

// logs says that its work may cause writes to PostgreSQL's log: the marks of a worker do.
func (p place) logs() bool { return p < fromLeast || p == fromMemory }

// contender is who does the work of a workload.
type contender struct {
	key    string // for --sources
	name   string
	script string // for pgbench; empty: a driver of its own
	from   place
}

// draws says whether its IDs are those of next_snowflake.
func (c contender) draws() bool { return strings.Contains(c.script, "snowflake") }

// add adds a trial of each contender that is chosen and has a server.
func (r Rig) add(p *trial.Plan, w trial.Workload, all []contender, turn func(contender, servers.Server) trial.Turn) {
	for _, c := range all {
		server := c.from.of(r.Servers)
		if len(r.Sources) > 0 && !slices.Contains(r.Sources, c.key) {
			continue
		}
		if server.URL == "" {
			r.Say(c.name + ": " + server.Missing)
			continue
		}
		run := turn(c, server)
		if c.from.logs() {
			run = walOf(r.Postgres.URL, run)
		}
		if c.from == fromProxy && c.draws() {
			run = Answered(r.Servers, run)
		}
		database := server.PID
		if c.from.inFront() {
			p.WatchProcess(c.name, trial.Middle, server.PID)
			database = r.Postgres.PID
		}
		p.WatchProcess(c.name, trial.Database, database)
		p.Trials = append(p.Trials,
			trial.Trial{Workload: w, Contender: c.name, Through: c.from.inFront(), Run: run})
	}
}

// pgbench adds a workload that pgbench does for all contenders.
func (r Rig) pgbench(p *trial.Plan, w trial.Workload, run driver.PgbenchRun, all []contender) {
	r.add(p, w, all, func(c contender, server servers.Server) trial.Turn {
		run := run
		run.Script, run.Clients, run.Settle = c.script, w.Clients, w.Settle
		return r.Pgbench.Against(run, server.URL)
	})
}

// chosen says whether a workload is wanted.
func (r Rig) chosen(workload string) bool { return slices.Contains(r.Workloads, workload) }

// walOf adds to a count all that the server wrote to its log during the turn, whatever the cause.
func walOf(server string, turn trial.Turn) trial.Turn {
	return func(ctx context.Context, d time.Duration, measure trial.Measure) (trial.Count, error) {
		conn, err := pgx.Connect(ctx, server)
		if err != nil {
			return trial.Count{}, err
		}
		defer conn.Close(context.WithoutCancel(ctx))
		return turn(ctx, d, func(work func() (trial.Count, error)) (trial.Count, error) {
			var before, after int64
			if err := conn.QueryRow(ctx, statement("wal")).Scan(&before); err != nil {
				return trial.Count{}, err
			}
			count, err := measure(work)
			if err == nil {
				err = conn.QueryRow(ctx, statement("wal")).Scan(&after)
			}
			if err == nil && count.Operations > 0 {
				count.Add("WAL bytes, each", float64(after-before)/float64(count.Operations))
			}
			return count, err
		})
	}
}

//go:embed sql/*.sql
var statements embed.FS

// statement is the text of a file in folder sql.
func statement(name string) string {
	text, err := statements.ReadFile("sql/" + name + ".sql")
	if err != nil {
		panic(err) // the file is embedded
	}
	return string(text)
}

// execute runs a file of folder sql on a connection of its own.
func execute(ctx context.Context, target, name string) error {
	conn, err := pgx.Connect(ctx, target)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.PgConn().Exec(ctx, statement(name)).ReadAll(); err != nil {
		return fmt.Errorf("%s.sql: %w", name, err)
	}
	return nil
}
