package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"pgflurry/bench"
)

func newRun() *cobra.Command {
	var m measurement
	cmd := &cobra.Command{
		Use:   "run",
		Short: "The ways to get an ID over a PostgreSQL connection, side by side",
		Long: `run starts a private PostgreSQL and the proxy, and draws IDs over TCP in every way that a PostgreSQL connection has, with one
driver (pgx) for all:

  one per round trip, prepared   next_snowflake through the proxy and by the function in the database, nextval with CACHE 1 and
                                 1000, nextval % 4096 with the clock (which can repeat), UUID v4 and v7, next_segment through the
                                 proxy and in the database, next_auto_increment, next_replace_id, a counter row
  one per round trip, simple     next_snowflake through the proxy, nextval
  50 pipelined, prepared         the same two
  1,000 per statement, prepared  next_snowflakes(1000) and generate_series through the proxy, the function in the database, nextval

for each number of --clients. The sources take turns in every round. It prints a table: throughput, its ratio to nextval of the
same round, percentiles of a round trip, processor time of the servers and bytes of PostgreSQL's log for each ID; and writes it to
results.md, everything to results.json, and charts. Ctrl-C ends it early and still writes what is finished. Nothing stays running, and no
data stays.`,
		Example: `  pgflurry-bench run --out results
  pgflurry-bench run --clients 8 --rounds 3 --duration 1s`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := m.check(cmd); err != nil {
				return err
			}
			return m.run(cmd.Context(), ids(m.clients), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().IntSliceVar(&m.clients, "clients", []int{1, 8, 16, 64}, "numbers of clients")
	m.flags(cmd, 5*time.Second, 100*time.Millisecond)
	return cmd
}

// ids is the subject of the command run.
func ids(clients []int) subject {
	return subject{
		report:   bench.Report{Kind: bench.KindIDs, Title: "Ways to get an ID over a PostgreSQL connection", Command: "run"},
		bases:    []string{bench.Nextval},
		verdicts: func(_ []bench.Trial, figures []bench.Figure) []bench.Verdict { return bench.IDVerdicts(figures) },
		plan: func(ctx context.Context, private *bench.Private, _ string, _ *bench.Report) (bench.Plan, error) {
			b := bench.IDs{Servers: private.Servers, Clients: clients}
			if err := b.Prepare(ctx); err != nil {
				return bench.Plan{}, err
			}
			return b.Plan()
		},
	}
}
