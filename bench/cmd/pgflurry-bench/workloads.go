package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pgflurry/bench/driver"
	"pgflurry/bench/report"
	"pgflurry/bench/servers"
	"pgflurry/bench/suites"
)

// choosing makes a command with --workloads, which chooses from all. turn is the default length of a turn. Turns are
// multiples of step, because pgbench counts seconds. --clients is for the workload clientsOf, and numbers is its
// default.
func choosing(cmd *cobra.Command, all []string, clientsOf string, numbers []int, turn, step time.Duration,
	of func(workloads []string, clients []int) subject,
) *cobra.Command {
	var m measurement
	var workloads []string
	cmd.Args = noArguments
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		for _, w := range workloads {
			if !slices.Contains(all, w) {
				return usage(fmt.Errorf("--workloads has %q; expected some of %s", w, strings.Join(all, ", ")))
			}
		}
		if again, is := repeated(workloads); is {
			return usage(fmt.Errorf("--workloads has %q twice; expected each once", again))
		}
		if err := m.check(cmd); err != nil {
			return usage(err)
		}
		return m.run(cmd.Context(), of(workloads, m.clients), cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	cmd.Flags().StringSliceVar(&workloads, "workloads", all, "what to run")
	m.clientsFlag(cmd, "clients", "numbers of clients of "+clientsOf, numbers, mostClients)
	m.turnFlags(cmd, turn, time.Second, step)
	m.serverFlags(cmd)
	m.commonFlags(cmd)
	return cmd
}

// usualClients are the default numbers of clients.
var usualClients = []int{1, 16, 64}

// mostClients limits the clients of a server. PgBouncer has a pool for as many.
const mostClients = 200

// pgx is the driver for everything that pgbench cannot do.
const pgx = "github.com/jackc/pgx/v5"

// withPgbench prepares pgbench, and records its version.
func withPgbench(ctx context.Context, on servers.Servers, folder string, r *report.Report) (*driver.Pgbench, error) {
	pgbench, err := suites.NewPgbench(ctx, on.Binaries, folder)
	if err == nil {
		r.Versions["pgbench"] = pgbench.Version
	}
	return pgbench, err
}
