package suites

import (
	"context"
	_ "embed" // the SQL
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/bench/driver"
	"pgflurry/bench/report"
	"pgflurry/bench/servers"
	"pgflurry/bench/trial"
)

// The workloads of the targets, as in --workloads, besides pipelinedWorkload.
const (
	SingleWorkload = "single"
	coldWorkload   = "cold"
	cpuWorkload    = "cpu"
	batchWorkload  = "batch"
	insertWorkload = "insert"
	bulkWorkload   = "bulk"
	idleWorkload   = "idle"
)

// TargetWorkloads are all workloads, in order.
var TargetWorkloads = []string{
	SingleWorkload, coldWorkload, pipelinedWorkload, cpuWorkload, batchWorkload, insertWorkload, bulkWorkload,
	idleWorkload,
}

// Names that the tables and TargetVerdicts share.
const (
	cold       = "20 of each new session, prepared"
	fixedBytes = "one per round trip, fixed bytes"
	inserted   = "one row per INSERT, prepared"
	bulk       = "100,000 per statement, prepared"
	idle       = "a proxy without clients"

	fixedPrepared = proxied + ": Bind, Execute, Sync"
	fixedSimple   = proxied + ": Query"

	bulkSize = 100_000

	// The first draw of a session prepares what later ones use. With coldClients that takes seconds together.
	coldClients = 64
	coldDraws   = 20
	coldFor     = 5 * time.Second
)

// insertClients are the numbers of clients that insert rows.
var insertClients = []int{1, 16}

// Targets plans the trials for the targets: each contender beside the one that it has to beat. It uses pgbench if
// possible, so that anyone can check with a tool that is not ours.
type Targets struct {
	Servers   servers.Servers
	Pgbench   *driver.Pgbench
	Workloads []string
	Clients   []int // of the workload single
}

//go:embed sql/setup_targets.sql
var setupTargetsSQL string

// Prepare creates what the trials draw from and insert into.
func (b Targets) Prepare(ctx context.Context) error {
	if err := (IDs{Servers: b.Servers}).Prepare(ctx); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, b.Servers.Postgres.URL)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.PgConn().Exec(ctx, setupTargetsSQL).ReadAll(); err != nil {
		return fmt.Errorf("the tables that rows are inserted into cannot be made: %w", err)
	}
	return nil
}

// Needs are the servers of the workloads, besides PostgreSQL and the proxy.
func (b Targets) Needs() servers.Needs {
	return servers.Needs{
		Limit: slices.Contains(b.Workloads, SingleWorkload),
		Redis: slices.Contains(b.Workloads, cpuWorkload), Idle: slices.Contains(b.Workloads, idleWorkload),
	}
}

// NotRun lists the trials without a server, and why.
func (b Targets) NotRun() (all []string) {
	if b.Needs().Redis && b.Servers.Redis.URL == "" {
		all = append(all, report.Redis+": "+b.Servers.Redis.Missing)
	}
	if b.Needs().Limit && b.Servers.Limit.URL == "" {
		all = append(all, report.Limit+": "+b.Servers.Limit.Missing)
	}
	return all
}

// Plan makes the trials. The caller fills in rounds, times and seed.
func (b Targets) Plan() (trial.Plan, error) {
	var p trial.Plan
	add := map[string]func(*trial.Plan) error{
		SingleWorkload: b.single, coldWorkload: b.cold, pipelinedWorkload: b.pipelined, cpuWorkload: b.cpu,
		batchWorkload:  b.batch,
		insertWorkload: b.inserts, bulkWorkload: b.bulk, idleWorkload: b.idle,
	}
	for _, workload := range b.Workloads {
		if add[workload] == nil {
			return p, fmt.Errorf("there is no workload %q; expected some of %v", workload, TargetWorkloads)
		}
		if err := add[workload](&p); err != nil {
			return p, err
		}
	}
	return p, nil
}

// scripted is a contender that pgbench runs.
type scripted struct {
	name, script string
	proxy        bool
}

// pgbench adds a workload of pgbench.
func (b Targets) pgbench(p *trial.Plan, w trial.Workload, run driver.PgbenchRun, contenders ...scripted) {
	for _, c := range contenders {
		target := b.Servers.Postgres.URL
		if c.proxy {
			target = b.Servers.Proxy.URL
		}
		run.Script = c.script
		b.trial(p, w, c.name, c.proxy, b.Pgbench.Against(run, target))
	}
}

// trial adds a trial in which PostgreSQL takes part. Through the proxy it draws.
func (b Targets) trial(p *trial.Plan, w trial.Workload, name string, proxy bool, turn trial.Turn) {
	turn = walOf(b.Servers.Postgres.URL, turn)
	p.WatchProcess(name, trial.Database, b.Servers.Postgres.PID)
	if proxy {
		p.WatchProcess(name, trial.Middle, b.Servers.Proxy.PID)
		turn = Answered(b.Servers, turn)
	}
	p.Trials = append(p.Trials, trial.Trial{Workload: w, Contender: name, Through: proxy, Run: turn})
}

// drawn are the contenders of single IDs.
var drawn = []scripted{
	{report.Nextval, "sources/nextval.sql", false},
	{proxied, "sources/next_snowflake.sql", true},
	{inDatabase, "sources/next_snowflake.sql", false},
	{report.Unlogged, "pgbench/nextval_unlogged.sql", false},
}

func (b Targets) single(p *trial.Plan) error {
	for _, mode := range []struct {
		task, name string
		contenders []scripted
	}{{singlePrepared, "prepared", drawn}, {singleSimple, "simple", drawn[:2]}} {
		for _, clients := range b.Clients {
			run := driver.PgbenchRun{Mode: mode.name, Clients: clients, Each: 1}
			if clients >= coldClients {
				run.Settle = coldFor
			}
			w := trial.WithClients(mode.task, clients, "IDs", SingleWorkload)
			b.pgbench(p, w, run, mode.contenders...)
			b.limit(p, w, run)
		}
	}
	return nil
}

func (b Targets) cold(p *trial.Plan) error {
	b.pgbench(p, trial.WithClients(cold, coldClients, "IDs", coldWorkload),
		driver.PgbenchRun{Mode: "prepared", Clients: coldClients, Each: 1, Draws: coldDraws}, drawn...)
	return nil
}

// limit adds the same workload of the program that does the least. PostgreSQL takes no part.
func (b Targets) limit(p *trial.Plan, w trial.Workload, run driver.PgbenchRun) {
	if b.Servers.Limit.URL == "" {
		return
	}
	run.Script = "sources/next_snowflake.sql"
	p.WatchProcess(report.Limit, trial.Middle, b.Servers.Limit.PID)
	p.Trials = append(p.Trials, trial.Trial{
		Workload: w, Contender: report.Limit, Run: b.Pgbench.Against(run, b.Servers.Limit.URL),
	})
}

func (b Targets) pipelined(p *trial.Plan) error {
	w := trial.WithClients(pipelinedPrepared(), pipelineClients, "IDs", pipelinedWorkload)
	b.pgbench(p, w, driver.PgbenchRun{Mode: "prepared", Clients: pipelineClients, Each: driver.PipelineLength},
		scripted{report.Nextval, "pgbench/pipelined_nextval.sql", false},
		scripted{proxied, "pgbench/pipelined_snowflake.sql", true})
	return nil
}

func (b Targets) cpu(p *trial.Plan) error {
	w := trial.WithClients(fixedBytes, 1, "IDs", cpuWorkload)
	for _, c := range []struct {
		name string
		draw func(target, sql string) (driver.FixedBytes, error)
	}{{fixedPrepared, driver.PreparedBytes}, {fixedSimple, driver.SimpleBytes}} {
		draw, err := c.draw(b.Servers.Proxy.URL, nextSnowflakeSQL)
		if err != nil {
			return err
		}
		b.trial(p, w, c.name, true, draw.From())
	}
	if b.Servers.Redis.URL == "" {
		return nil
	}
	draw, err := driver.RedisBytes(b.Servers.Redis.URL)
	p.WatchProcess(report.Redis, trial.Database, b.Servers.Redis.PID)
	p.Trials = append(p.Trials, trial.Trial{Workload: w, Contender: report.Redis, Run: draw.From()})
	return err
}

func (b Targets) batch(p *trial.Plan) error {
	draw := driver.Draw{SQL: nextBatchSQL, Mode: driver.Prepared, Rows: batchSize, Clients: 1}
	b.trial(p, trial.WithClients(batchPrepared, 1, "IDs", batchWorkload), inBatches, true,
		draw.From(b.Servers.Proxy.URL))
	return nil
}

func (b Targets) inserts(p *trial.Plan) error {
	for _, clients := range insertClients {
		b.pgbench(p, trial.WithClients(inserted, clients, "rows", insertWorkload),
			driver.PgbenchRun{Mode: "prepared", Clients: clients, Each: 1},
			scripted{report.Nextval, "pgbench/insert_bigserial.sql", false},
			scripted{report.Floor, "pgbench/insert_least.sql", false},
			scripted{inDatabase, "pgbench/insert_snowflake.sql", false})
	}
	return nil
}

func (b Targets) bulk(p *trial.Plan) error {
	b.pgbench(p, trial.WithClients(bulk, 1, "IDs", bulkWorkload),
		driver.PgbenchRun{Mode: "prepared", Clients: 1, Each: bulkSize},
		scripted{report.Nextval, "pgbench/bulk_nextval.sql", false},
		scripted{report.Floor, "pgbench/bulk_least.sql", false},
		scripted{inDatabase, "pgbench/bulk_snowflake.sql", false})
	return nil
}

func (b Targets) idle(p *trial.Plan) error {
	p.WatchProcess(idle, trial.Middle, b.Servers.Idle.PID)
	w := trial.Workload{Name: idle, Task: idle, Counts: "writes", Group: idleWorkload}
	p.Trials = append(p.Trials,
		trial.Trial{Workload: w, Contender: idle, Through: true, Run: writesOf(b.Servers.Postgres.URL)})
	return nil
}
