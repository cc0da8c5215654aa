package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pgflurry/bench"
)

func newProxy() *cobra.Command {
	return choosing(&cobra.Command{
		Use:   "proxy",
		Short: "What a statement costs that the proxy only passes on",
		Long: `proxy starts a private PostgreSQL, the proxy and, if it is installed, PgBouncer in session mode, and gives the same work to
PostgreSQL directly and through each of the two:

  select     SELECT 1 with pgbench, simple, extended and prepared, for each number of --clients
  pipelined  50 statements a round trip with pgbench, 8 clients
  rows       1,000,000 rows out
  copy       1,000,000 rows in by COPY

The contenders take turns in every round. It prints a table, and writes it to results.md, everything to results.json, and charts. Ctrl-C
ends it early and still writes what is finished. Nothing stays running, and no data stays.`,
		Example: `  pgflurry-bench proxy --out results
  pgflurry-bench proxy --workloads select --clients 16 --rounds 3 --duration 2s`,
	}, bench.PassThroughWorkloads, bench.SelectWorkload, 10*time.Second, passThrough)
}

// passThrough is the subject of the command proxy.
func passThrough(workloads []string, clients []int) subject {
	return subject{
		report:   bench.Report{Kind: bench.KindPassThrough, Title: "Statements that are passed on", Command: "proxy --workloads " + strings.Join(workloads, ",")},
		bases:    []string{bench.Direct, bench.PgBouncer},
		drivers:  []string{pgx},
		needs:    bench.Needs{Pooler: true},
		verdicts: bench.PassThroughVerdicts,
		plan: func(ctx context.Context, servers bench.Servers, folder string, r *bench.Report) (bench.Plan, error) {
			pgbench, err := withPgbench(ctx, servers, folder, r)
			if err != nil {
				return bench.Plan{}, err
			}
			if servers.Pooler.Missing != "" {
				r.Versions["PgBouncer"] = "none"
				r.NotRun = append(r.NotRun, bench.PgBouncer+": "+servers.Pooler.Missing)
			}
			b := bench.PassThrough{Servers: servers, Pgbench: pgbench, Workloads: workloads, Clients: clients}
			if slices.Contains(workloads, bench.RowsWorkload) || slices.Contains(workloads, bench.CopyWorkload) {
				if b.Rows, err = bench.NewRows(ctx, servers.Postgres.URL); err != nil {
					return bench.Plan{}, err
				}
			}
			return b.Plan()
		},
	}
}
