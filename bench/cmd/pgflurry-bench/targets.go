package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pgflurry/bench/report"
	"pgflurry/bench/servers"
	"pgflurry/bench/suites"
	"pgflurry/bench/trial"
)

func newTargets() *cobra.Command {
	return choosing(&cobra.Command{
		Use:   "targets",
		Short: "The speeds that pgflurry is to reach, and whether it does",
		Long: `targets starts a private PostgreSQL, the proxy and, if it is installed, Redis. It measures each contender
beside the one that it is to beat, and says which targets are reached:

  single     one ID a round trip, prepared and simple, with pgbench, for each number of --clients: next_snowflake
             through the proxy and (prepared) by the function in the database, to nextval in PostgreSQL. With a C
             compiler the proxy is also compared with the program that does the least: it answers fixed bytes. Beside
             them stands nextval of an unlogged sequence. From 64 clients on, turns begin with five seconds that do not
             count, in which every session draws for the first time
  cold       64 new sessions that draw 20 IDs each and leave, again and again: the function, to nextval
  pipelined  50 a round trip with pgbench, 8 clients: the proxy, to nextval in PostgreSQL
  cpu        processor time of the servers for one ID, asked by fixed bytes from one plain socket: the proxy, to
             Redis INCR
  batch      next_snowflakes(1000) through the proxy, to what the layout allows
  insert     one row a transaction with pgbench, 1 and 16 clients: DEFAULT next_snowflake(), to its floor, the same
             with nextval in an empty function, and beside bigserial
  bulk       100,000 in one statement with pgbench: the function in the database, to nextval, beside that floor
  idle       what a second proxy, without clients, writes to the database

The contenders take turns in every round. The command prints the targets with the figure and its
quartiles. results.md has them with all figures, results.json has everything, and charts are drawn.
Ctrl-C ends the run early and still writes what is finished. Nothing stays running, and no data stays.`,
		Example: `  pgflurry-bench targets --out results-targets
  pgflurry-bench targets --duration 1s
  pgflurry-bench targets --workloads cpu --rounds 3 --duration 1s`,
	}, suites.TargetWorkloads, suites.SingleWorkload, usualClients, 5*time.Second, time.Second, targets)
}

// targets is the subject of the command of that name.
func targets(workloads []string, clients []int) subject {
	return subject{
		report: report.Report{
			Kind: report.KindTargets, Title: "Targets", Command: "targets --workloads " + strings.Join(workloads, ","),
		},
		bases:   []string{report.Nextval, report.Redis, report.Limit, report.Floor},
		drivers: []string{pgx},
		needs:   suites.Targets{Workloads: workloads}.Needs(),
		verdicts: func(_ []trial.Trial, figures []report.Figure) []report.Verdict {
			return suites.TargetVerdicts(figures)
		},
		plan: func(ctx context.Context, on servers.Servers, folder string, r *report.Report) (trial.Plan, error) {
			pgbench, err := withPgbench(ctx, on, folder, r)
			if err != nil {
				return trial.Plan{}, err
			}
			b := suites.Targets{Servers: on, Pgbench: pgbench, Workloads: workloads, Clients: clients}
			r.NotRun = append(r.NotRun, b.NotRun()...)
			if err := b.Prepare(ctx); err != nil {
				return trial.Plan{}, err
			}
			return b.Plan()
		},
	}
}
