package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"pgflurry/bench/report"
	"pgflurry/bench/servers"
	"pgflurry/bench/suites/inprocess"
	"pgflurry/bench/trial"
)

func newInprocess() *cobra.Command {
	var m measurement
	cmd := &cobra.Command{
		Use:   "inprocess",
		Short: "The generator beside the ID libraries that Go programs use",
		Long: `inprocess makes IDs within this process, without a server. It measures pgflurry's generator beside
bwmarrin/snowflake, sony/sonyflake, oklog/ulid, rs/xid and google/uuid. Each is called as its documents
say, for each number of --goroutines:

  a call                 layouts so wide that nobody waits: what does one ID cost?
  at the layout's limit  layouts as they come, asked for more than they have: is the rate held, and what does that burn?

The sources take turns in every round. The command prints a table, and writes it to results.md. It
writes everything to results.json, and draws charts. Ctrl-C ends the run early and still writes what is
finished.`,
		Example: `  pgflurry-bench inprocess --out results
  pgflurry-bench inprocess --rounds 3 --duration 100ms`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := m.check(cmd); err != nil {
				return usage(err)
			}
			return m.run(cmd.Context(), inProcess(m.clients), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	m.clientsFlag(cmd, "goroutines", "numbers of goroutines", []int{1, 2, 8}, 1000)
	m.turnFlags(cmd, 300*time.Millisecond, 100*time.Millisecond, time.Millisecond)
	m.commonFlags(cmd)
	return cmd
}

// inProcess is the subject of the command inprocess.
func inProcess(goroutines []int) subject {
	return subject{
		report: report.Report{
			Kind: report.KindInProcess, ClientsAre: "goroutines", Title: "IDs made in process", Command: "inprocess",
			Settings: inprocess.Tasks(),
		},
		bases:         []string{report.ClockReading, inprocess.Next},
		drivers:       inprocess.Rivals,
		verdicts:      inprocess.Verdicts,
		withoutServer: true,
		plan: func(context.Context, servers.Servers, string, *report.Report) (trial.Plan, error) {
			return inprocess.Plan(goroutines)
		},
	}
}
