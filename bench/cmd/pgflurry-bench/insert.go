package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"pgflurry/bench/console"
	"pgflurry/bench/driver"
	"pgflurry/bench/report"
	"pgflurry/bench/servers"
	"pgflurry/bench/suites"
	"pgflurry/bench/trial"
)

func newInsert() *cobra.Command {
	var m measurement
	var rows int
	cmd := &cobra.Command{
		Use:   "insert",
		Short: "What a primary key of each kind costs a table of a million rows",
		Long: `insert starts a private PostgreSQL and the proxy. It fills a table with keys of each kind in turns,
1,000 rows a statement, each statement a transaction:

  - nextval with CACHE 1 and 1000, and with an offset
  - next_snowflake as the column's DEFAULT, and drawn through the proxy
  - UUID v4 and v7

The command prints rows per second, WAL for each row and the size of the key's index. It writes them to
results.md and everything to results.json, and draws charts. Ctrl-C ends the run early and still writes
what is finished. Nothing stays running, and no data stays.`,
		Example: `  pgflurry-bench insert --out results
  pgflurry-bench insert --rows 100000 --rounds 3`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := (suites.Inserts{Rows: rows}).Plan(); err != nil {
				return usage(err)
			}
			// a turn ends with the last row; the duration is only for the estimate
			m.duration = suites.InsertsTurn * time.Duration(rows) / driver.Total
			m.step, m.warmUp = m.duration, m.duration // the warm-up round fills as many rows
			if err := m.check(cmd); err != nil {
				return usage(err)
			}
			return m.run(cmd.Context(), inserts(rows), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().IntVar(&rows, "rows", driver.Total, "how many rows the table has at the end, a multiple of 1000")
	m.serverFlags(cmd)
	m.commonFlags(cmd)
	return cmd
}

// inserts is the subject of the command insert.
func inserts(rows int) subject {
	return subject{
		report: report.Report{
			Kind: report.KindInserts, Title: "Primary keys of a table that is filled",
			Command: "insert --rows " + console.Numbers([]int{rows}),
		},
		bases:   []string{report.Nextval},
		drivers: []string{pgx},
		plan: func(ctx context.Context, on servers.Servers, _ string, _ *report.Report) (trial.Plan, error) {
			if err := (suites.IDs{Servers: on}).Prepare(ctx); err != nil {
				return trial.Plan{}, err
			}
			return suites.Inserts{Servers: on, Rows: rows}.Plan()
		},
	}
}
