package bench

import (
	"fmt"
)

// The contenders of the pass-through benchmark.
const (
	Direct    = "direct"
	PgBouncer = "PgBouncer"
	Pgflurry  = "pgflurry"
)

// The roles of processes that are watched.
const (
	Middle   = "middle"   // what stands in front of PostgreSQL
	Database = "database" // PostgreSQL
	Self     = "self"     // this process; a run tells it in Count.Spent, and nothing is watched
)

// The workloads of the pass-through benchmark, as --workloads names them.
const (
	SelectWorkload    = "select"
	PipelinedWorkload = "pipelined"
	RowsWorkload      = "rows"
	CopyWorkload      = "copy"
)

// PassThroughWorkloads are all of them, in the order they run.
var PassThroughWorkloads = []string{SelectWorkload, PipelinedWorkload, RowsWorkload, CopyWorkload}

const (
	pipelineLength  = 50
	pipelineClients = 8
)

// PassThrough plans what a statement costs that is only passed on: the same work directly and through each server in front.
type PassThrough struct {
	Servers   Servers
	Pgbench   *Pgbench
	Rows      *Rows // nil if neither rows nor copy is among the workloads
	Workloads []string
	Clients   []int // of the select workload
}

// contenders are the ways to PostgreSQL that are there.
func (b PassThrough) contenders() (names []string, targets map[string]Server) {
	targets = map[string]Server{Direct: {URL: b.Servers.Postgres.URL}, PgBouncer: b.Servers.Pooler, Pgflurry: b.Servers.Proxy}
	for _, name := range []string{Direct, PgBouncer, Pgflurry} {
		if targets[name].URL != "" {
			names = append(names, name)
		}
	}
	return names, targets
}

// Plan lists the trials; rounds, times and seed are the caller's to fill in.
func (b PassThrough) Plan() (Plan, error) {
	p := Plan{Watch: make(map[string]map[string]int)}
	names, targets := b.contenders()
	for _, name := range names {
		p.watch(name, Middle, targets[name].PID)
		p.watch(name, Database, b.Servers.Postgres.PID)
	}
	add := func(w Workload, run func(target string) Turn) {
		for _, name := range names {
			p.Trials = append(p.Trials, Trial{Workload: w, Contender: name, Through: name != Direct, Run: run(targets[name].URL)})
		}
	}
	for _, workload := range b.Workloads {
		switch workload {
		case SelectWorkload:
			for _, mode := range []string{"simple", "extended", "prepared"} {
				for _, clients := range b.Clients {
					w := withClients("`SELECT 1`, "+mode, clients, "statements", SelectWorkload)
					add(w, func(target string) Turn {
						return b.Pgbench.Against(PgbenchRun{Script: "pgbench/select.sql", Mode: mode, Clients: clients, Each: 1}, target)
					})
				}
			}
		case PipelinedWorkload:
			w := withClients(fmt.Sprintf("`SELECT 1` × %d pipelined", pipelineLength), pipelineClients, "statements", PipelinedWorkload)
			add(w, func(target string) Turn {
				return b.Pgbench.Against(PgbenchRun{Script: "pgbench/pipelined.sql", Mode: "prepared", Clients: pipelineClients, Each: pipelineLength}, target)
			})
		case RowsWorkload:
			add(Workload{Name: "1,000,000 rows out", Task: "1,000,000 rows out", Unit: "rows", Group: RowsWorkload}, b.Rows.Out)
		case CopyWorkload:
			add(Workload{Name: "1,000,000 rows COPY in", Task: "1,000,000 rows COPY in", Unit: "rows", Group: CopyWorkload}, b.Rows.In)
		default:
			return p, fmt.Errorf("there is no workload %q; expected some of %v", workload, PassThroughWorkloads)
		}
	}
	return p, nil
}

func counted(n int, what string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}
