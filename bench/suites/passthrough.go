package suites

import (
	"fmt"
	"slices"

	"pgflurry/bench/driver"
	"pgflurry/bench/report"
	"pgflurry/bench/servers"
	"pgflurry/bench/trial"
)

// Pgflurry is the contender of the pass-through benchmark, beside report.Direct and report.PgBouncer.
const Pgflurry = "pgflurry"

// The workloads of the pass-through benchmark, as in --workloads.
const (
	SelectWorkload    = "select"
	pipelinedWorkload = "pipelined"
	RowsWorkload      = "rows"
	CopyWorkload      = "copy"
)

// PassThroughWorkloads are all workloads, in order.
var PassThroughWorkloads = []string{SelectWorkload, pipelinedWorkload, RowsWorkload, CopyWorkload}

// pipelineClients are the clients of the workload pipelined.
const pipelineClients = 8

// PassThrough plans what a statement costs that is only passed on. It runs the same work directly and through each
// server in front.
type PassThrough struct {
	Servers   servers.Servers
	Pgbench   *driver.Pgbench
	Rows      *driver.Rows // nil without the workloads rows and copy
	Workloads []string
	Clients   []int // of the select workload
}

// contenders are those with a server.
func (b PassThrough) contenders() (names []string, targets map[string]servers.Server) {
	targets = map[string]servers.Server{
		report.Direct: {URL: b.Servers.Postgres.URL}, report.PgBouncer: b.Servers.Pooler,
		report.HAProxy: b.Servers.Balancer, Pgflurry: b.Servers.Proxy,
	}
	for _, name := range []string{report.Direct, report.PgBouncer, report.HAProxy, Pgflurry} {
		if targets[name].URL != "" {
			names = append(names, name)
		}
	}
	return names, targets
}

// NotRun lists the contenders without a server, and why.
func (b PassThrough) NotRun() (all []string) {
	for name, of := range map[string]servers.Server{
		report.PgBouncer: b.Servers.Pooler, report.HAProxy: b.Servers.Balancer,
	} {
		if of.Missing != "" {
			all = append(all, name+": "+of.Missing)
		}
	}
	slices.Sort(all)
	return all
}

// Plan makes the trials. The caller fills in rounds, times and seed.
func (b PassThrough) Plan() (trial.Plan, error) {
	var p trial.Plan
	names, targets := b.contenders()
	for _, name := range names {
		p.WatchProcess(name, trial.Middle, targets[name].PID)
		p.WatchProcess(name, trial.Database, b.Servers.Postgres.PID)
	}
	add := func(w trial.Workload, run func(target string) trial.Turn) {
		for _, name := range names {
			p.Trials = append(p.Trials,
				trial.Trial{Workload: w, Contender: name, Through: name != report.Direct, Run: run(targets[name].URL)})
		}
	}
	for _, workload := range b.Workloads {
		switch workload {
		case SelectWorkload:
			for _, mode := range []string{"simple", "extended", "prepared"} {
				for _, clients := range b.Clients {
					w := trial.WithClients("`SELECT 1`, "+mode, clients, "statements", SelectWorkload)
					add(w, func(target string) trial.Turn {
						return b.Pgbench.Against(driver.PgbenchRun{
							Script: "pgbench/select.sql", Mode: mode, Clients: clients, Each: 1,
						}, target)
					})
				}
			}
		case pipelinedWorkload:
			w := trial.WithClients(fmt.Sprintf("`SELECT 1` × %d pipelined", driver.PipelineLength), pipelineClients,
				"statements", pipelinedWorkload)
			add(w, func(target string) trial.Turn {
				return b.Pgbench.Against(driver.PgbenchRun{
					Script: "pgbench/pipelined.sql", Mode: "prepared", Clients: pipelineClients,
					Each: driver.PipelineLength,
				}, target)
			})
		case RowsWorkload:
			add(trial.Workload{
				Name: "1,000,000 rows out", Task: "1,000,000 rows out", Counts: "rows", Group: RowsWorkload,
			}, b.Rows.Out)
		case CopyWorkload:
			add(trial.Workload{
				Name: "1,000,000 rows COPY in", Task: "1,000,000 rows COPY in", Counts: "rows", Group: CopyWorkload,
			}, b.Rows.In)
		default:
			return p, fmt.Errorf("there is no workload %q; expected some of %v", workload, PassThroughWorkloads)
		}
	}
	return p, nil
}
