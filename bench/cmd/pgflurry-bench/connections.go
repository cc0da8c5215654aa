package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pgflurry/bench/report"
	"pgflurry/bench/servers"
	"pgflurry/bench/suites"
	"pgflurry/bench/trial"
)

// mostIdle limits --idle. PgBouncer's limit of clients is a little higher.
const mostIdle = 10_000

func newConnections() *cobra.Command {
	var idle int
	cmd := choosing(&cobra.Command{
		Use:   "connections",
		Short: "What a connection costs: its memory, the time until it is there, an ID of it",
		Long: `connections starts a private PostgreSQL, the proxy and a proxy with an ID database. If they are
installed, it also starts PgBouncer in transaction mode and Redis. Clients log in by SCRAM-SHA-256 with
a password, except to Redis.

  memory   so many connections that have drawn once and stay idle (--idle; at most 400 where each has a process of
           PostgreSQL): memory of all servers for each
  connect  connect and leave, 1 and 8 clients: time until the client is known
  single   one ID a round trip by a Query, for each number of --clients
  beside   one client that draws single IDs beside 1, 4 and 8 that draw 10,000 a statement: its round trips

The contenders take turns in every round. The command prints a table. results.md has all figures of a
contender in one column, results.json has everything, and charts are drawn. Ctrl-C ends the run early and
still writes what is finished. Nothing stays running, and no data stays.`,
		Example: `  pgflurry-bench connections --out results
  pgflurry-bench connections --workloads memory --idle 10000 --rounds 3`,
	}, suites.ConnectionWorkloads, suites.SingleWorkload, []int{1, 8, 64}, 2*time.Second, 100*time.Millisecond,
		func(workloads []string, clients []int) subject { return connections(workloads, clients, idle) })
	cmd.Flags().IntVar(&idle, "idle", 2000, fmt.Sprintf("connections of the workload memory, 1 to %d", mostIdle))
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if idle < 1 || idle > mostIdle {
			return usage(fmt.Errorf("--idle is %d; expected 1 to %d", idle, mostIdle))
		}
		return nil
	}
	return cmd
}

// connections is the subject of the command of that name.
func connections(workloads []string, clients []int, idle int) subject {
	of := func(on servers.Servers) *suites.Connections {
		return &suites.Connections{Servers: on, Workloads: workloads, Clients: clients, Idle: idle}
	}
	return subject{
		report: report.Report{
			Kind: report.KindConnections, Title: "Connections",
			Settings: map[string]string{"idle connections": fmt.Sprint(idle)},
			Command:  fmt.Sprintf("connections --workloads %s --idle %d", strings.Join(workloads, ","), idle),
		},
		bases:    []string{report.Nextval, report.Redis},
		drivers:  []string{pgx, "github.com/redis/go-redis/v9"},
		needs:    of(servers.Servers{}).Needs(),
		verdicts: suites.ConnectionVerdicts,
		plan: func(ctx context.Context, on servers.Servers, _ string, r *report.Report) (trial.Plan, error) {
			b := of(on)
			r.NotRun = append(r.NotRun, b.NotRun()...)
			if err := b.Prepare(ctx); err != nil {
				return trial.Plan{}, err
			}
			return b.Plan()
		},
	}
}
