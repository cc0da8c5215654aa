package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pgflurry/bench/report"
	"pgflurry/bench/servers"
	"pgflurry/bench/suites"
	"pgflurry/bench/trial"
)

func newRun() *cobra.Command {
	var m measurement
	var chosen []string
	var demo, quick bool
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Sources of IDs over a connection, side by side",
		Long: `run draws IDs over TCP from every source that a PostgreSQL connection has, with one driver (pgx). Beside
them it measures Redis (go-redis) and MariaDB (go-sql-driver). Without --postgres it starts private
servers, as far as they are installed. With --postgres it uses only the servers that flags name. It
lists what is missing as not run. For each number of --clients it measures:

  one per round trip, prepared   next_snowflake through the proxy, from the ID database and by the function in the
                                 database, nextval with CACHE 1 and 1000, nextval % 4096 with the clock (which can
                                 repeat), UUID v4 and v7, next_segment through the proxy and in the database,
                                 next_auto_increment, next_replace_id, a counter row, nextval through PgBouncer and
                                 with an offset; Redis INCR, MariaDB auto_increment and REPLACE INTO
  one per round trip, simple     next_snowflake through the proxy and from the ID database, nextval
  50 pipelined, prepared         the same three, and Redis INCR
  1,000 per statement, prepared  next_snowflakes(1000) through the proxy and from the ID database, generate_series
                                 through the proxy, the function in the database, nextval

--quick answers within half a minute: a few sources that give one ID a round trip, a narrow table, a
sentence and bars. run refuses your own servers if --proxy or --id-database is none.

The sources take turns in every round. The command prints a table:
  - throughput, and its ratio to nextval of the same round
  - mean and percentiles of a round trip
  - for each ID, processor time of the servers and bytes of PostgreSQL's log

It writes the table to results.md and everything to results.json, and draws charts. Ctrl-C ends the run
early and still writes what is finished. Nothing stays running, and no data stays.`,
		Example: `  pgflurry-bench run --quick
  pgflurry-bench run --out results
  pgflurry-bench run --sources nextval,snowflake-proxy,redis-incr
  pgflurry-bench run --postgres postgres://me@db/app --proxy postgres://me@db:6432/app --redis redis://cache:6379
  pgflurry-bench run --clients 8 --rounds 3 --duration 1s`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			keys := suites.SourceKeys()
			if quick {
				m.quicken(cmd, &chosen)
				keys = suites.QuickKeys()
			}
			if err := errors.Join(m.check(cmd), checkSources(chosen, keys), m.checkServers(demo)); err != nil {
				return usage(err)
			}
			return m.run(cmd.Context(), ids(chosen, m.clients, quick), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	m.clientsFlag(cmd, "clients", "numbers of clients", usualClients, mostClients)
	f.StringSliceVar(&chosen, "sources", nil,
		"sources (default all): "+strings.Join(suites.SourceKeys(), ", "))
	f.BoolVar(&quick, "quick", false, fmt.Sprintf("a quick look of half a minute: few sources, %d clients, "+
		"%d rounds of %v, the answer in a sentence; other flags change that", quickClients, quickRounds, quickTurn))
	f.BoolVar(&demo, "demo", false, "start private servers, as without --postgres")
	f.StringVar(&m.running.Postgres.URL, "postgres", "",
		"a PostgreSQL that runs, after pgflurry migrate up: postgres://…")
	f.StringVar(&m.running.Proxy.URL, "proxy", "", "the proxy before it: postgres://…")
	f.StringVar(&m.running.IDDatabase.URL, "id-database", "", "a proxy's ID database: postgres://…")
	f.StringVar(&m.running.Pooler.URL, "pgbouncer", "", "a PgBouncer before it: postgres://…")
	f.StringVar(&m.running.Redis.URL, "redis", "", "a Redis that runs: redis://…")
	f.StringVar(&m.running.MariaDB.URL, "mysql", "",
		"a MariaDB or MySQL that runs: user:password@tcp(host:port)/database")
	m.turnFlags(cmd, 5*time.Second, time.Second, 100*time.Millisecond)
	m.serverFlags(cmd)
	m.commonFlags(cmd)
	return cmd
}

// The size of a quick look: with the start of the servers it takes half a minute on two processors.
const (
	quickClients = 8
	quickRounds  = 5
	quickTurn    = 400 * time.Millisecond
	quickWarmUp  = 200 * time.Millisecond
)

// quicken sets the values of a quick look for all flags that are not given.
func (m *measurement) quicken(cmd *cobra.Command, chosen *[]string) {
	for flag, set := range map[string]func(){
		"clients":  func() { m.clients = []int{quickClients} },
		"rounds":   func() { m.rounds = quickRounds },
		"duration": func() { m.duration = quickTurn },
		"warm-up":  func() { m.warmUp = quickWarmUp },
		"sources":  func() { *chosen = suites.QuickSources(m.running) },
	} {
		if !cmd.Flags().Changed(flag) {
			set()
		}
	}
}

// checkSources refuses unknown sources.
func checkSources(chosen, all []string) error {
	for _, key := range chosen {
		if !slices.Contains(all, key) {
			return fmt.Errorf("--sources has %q; expected some of %s", key, strings.Join(all, ", "))
		}
	}
	if again, is := repeated(chosen); is {
		return fmt.Errorf("--sources has %q twice; expected each once", again)
	}
	return nil
}

// checkServers refuses contradictory flags for servers.
func (m *measurement) checkServers(demo bool) error {
	given := m.running.Proxy.URL + m.running.IDDatabase.URL + m.running.Pooler.URL + m.running.Redis.URL +
		m.running.MariaDB.URL
	switch {
	case demo && m.running.Postgres.URL+given != "":
		return errors.New("--demo starts servers of its own; " +
			"expected it without --postgres, --proxy, --id-database, --pgbouncer, --redis and --mysql")
	case m.running.Postgres.URL == "" && given != "":
		return errors.New("--postgres is missing; expected it with --proxy, --id-database, --pgbouncer, --redis " +
			"and --mysql, because the other sources are compared with its nextval")
	}
	return nil
}

// ids is the subject of the command run.
func ids(chosen []string, clients []int, quick bool) subject {
	command := "run"
	if quick {
		command += " --quick"
	}
	if len(chosen) > 0 {
		command += " --sources " + strings.Join(chosen, ",")
	}
	of := func(on servers.Servers) suites.IDs {
		return suites.IDs{Servers: on, Clients: clients, Sources: chosen, Quick: quick}
	}
	what := subject{
		report: report.Report{
			Kind: report.KindIDs, Title: "Sources of IDs over a connection", Command: command, Quick: quick,
		},
		bases:   []string{report.Nextval},
		drivers: []string{pgx, "github.com/redis/go-redis/v9", "github.com/go-sql-driver/mysql"},
		needs:   of(servers.Servers{}).Needs(),
		cleanUp: func(ctx context.Context, on servers.Servers) error { return of(on).CleanUp(ctx) },
		plan: func(ctx context.Context, on servers.Servers, _ string, r *report.Report) (trial.Plan, error) {
			b := of(on)
			r.NotRun = append(r.NotRun, b.NotRun()...)
			if err := b.Prepare(ctx); err != nil {
				return trial.Plan{}, err
			}
			return b.Plan()
		},
	}
	if quick {
		what.summary = suites.Summary
	}
	return what
}
