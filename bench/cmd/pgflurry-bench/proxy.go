package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pgflurry/bench/driver"
	"pgflurry/bench/report"
	"pgflurry/bench/servers"
	"pgflurry/bench/suites"
	"pgflurry/bench/trial"
)

func newProxy() *cobra.Command {
	return choosing(&cobra.Command{
		Use:   "proxy",
		Short: "What a statement costs that the proxy only passes on",
		Long: `proxy starts a private PostgreSQL and the proxy. If they are installed, it also starts PgBouncer in
session mode and HAProxy in TCP mode. It gives the same work to PostgreSQL directly and through each:

  select     SELECT 1 with pgbench, simple, extended and prepared, for each number of --clients
  pipelined  50 statements a round trip with pgbench, 8 clients
  rows       1,000,000 rows out
  copy       1,000,000 rows in by COPY

The contenders take turns in every round. The command prints a table, and writes it to results.md. It
writes everything to results.json, and draws charts. Ctrl-C ends the run early and still writes what is
finished. Nothing stays running, and no data stays.`,
		Example: `  pgflurry-bench proxy --out results
  pgflurry-bench proxy --workloads select --clients 16 --rounds 3 --duration 2s`,
	}, suites.PassThroughWorkloads, suites.SelectWorkload, usualClients, 10*time.Second, time.Second, passThrough)
}

// passThrough is the subject of the command proxy.
func passThrough(workloads []string, clients []int) subject {
	return subject{
		report: report.Report{
			Kind: report.KindPassThrough, Title: "Statements that are passed on",
			Command: "proxy --workloads " + strings.Join(workloads, ","),
		},
		bases:    []string{report.Direct, report.PgBouncer, report.HAProxy},
		drivers:  []string{pgx},
		needs:    servers.Needs{Pooler: true, Balancer: true},
		verdicts: suites.PassThroughVerdicts,
		plan: func(ctx context.Context, on servers.Servers, folder string, r *report.Report) (trial.Plan, error) {
			pgbench, err := withPgbench(ctx, on, folder, r)
			if err != nil {
				return trial.Plan{}, err
			}
			b := suites.PassThrough{Servers: on, Pgbench: pgbench, Workloads: workloads, Clients: clients}
			r.NotRun = append(r.NotRun, b.NotRun()...)
			if slices.Contains(workloads, suites.RowsWorkload) || slices.Contains(workloads, suites.CopyWorkload) {
				if b.Rows, err = driver.NewRows(ctx, on.Postgres.URL); err != nil {
					return trial.Plan{}, err
				}
			}
			return b.Plan()
		},
	}
}
