package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pgflurry/bench/report"
	"pgflurry/bench/suites"
	"pgflurry/bench/suites/inprocess"
	"pgflurry/bench/trial"
)

// turns is what the help of every command ends with.
const turns = `

The contenders take turns in every round. The command prints a table. With --out it writes everything to
results.json, and a table and charts made from that. Ctrl-C ends the run early and still writes what is
finished. Nothing stays running, and no data stays.`

// mostClients limits the clients of a server. PgBouncer has a pool for as many.
const mostClients = 200

func newRun() *cobra.Command {
	var quick bool
	m := measurement{suite: suites.IDs(), turn: 2 * time.Second, warmUp: time.Second, step: time.Second}
	cmd := m.command(&cobra.Command{
		Use:   "run",
		Short: "Sources of IDs over a connection, side by side",
		Long: `run draws IDs over TCP from every source that a PostgreSQL connection has, with pgbench. Beside them it
measures Redis (go-redis). Without --postgres it starts private servers, as far as they are installed. With
--postgres it uses only the servers that flags name. It lists what is missing as not run.

  prepared   one ID a round trip, from each of --sources
  open       the first eight of them in an open loop, at 25, 50 and 75 % of what they gave before: clients that come
             at times of their own, and wait from then on
  simple     one ID a round trip as a Query
  pipelined  50 a round trip
  batch      1,000 a statement
  cold       64 new sessions that draw 20 IDs each and leave
  insert     one row a transaction, with DEFAULT next_snowflake(), its floor, and bigserial
  bulk       100,000 in one statement, by one client

From 64 clients on, turns begin with five seconds that do not count, in which every session draws for the first time.

--quick answers within half a minute: a few sources that give one ID a round trip, a narrow table, a
sentence and bars. run refuses your own servers if --proxy or --id-database is none.` + turns,
		Example: `  pgflurry-bench run --quick
  pgflurry-bench run --out results
  pgflurry-bench run --workloads prepared,open --sources nextval,snowflake-proxy,redis-incr
  pgflurry-bench run --postgres postgres://me@db/app --proxy postgres://me@db:6432/app --redis redis://cache:6379`,
	}, func() error {
		if quick {
			m.quicken()
		}
		return errors.Join(among("--sources", m.rig.Sources, suites.SourceKeys()), m.checkServers())
	})
	f := cmd.Flags()
	f.StringSliceVar(&m.rig.Sources, "sources", nil,
		"sources (default all): "+strings.Join(suites.SourceKeys(), ", "))
	f.BoolVar(&quick, "quick", false, fmt.Sprintf("a quick look of half a minute: few sources, %d clients, %d rounds "+
		"of a second, the answer in a sentence; other flags change that", quickClients, quickRounds))
	f.StringVar(&m.rig.Postgres.URL, "postgres", "",
		"a PostgreSQL that runs, after pgflurry migrate up: postgres://…")
	f.StringVar(&m.rig.Proxy.URL, "proxy", "", "the proxy before it: postgres://…")
	f.StringVar(&m.rig.IDDatabase.URL, "id-database", "", "a proxy's ID database: postgres://…")
	f.StringVar(&m.rig.Pooler.URL, "pgbouncer", "", "a PgBouncer before it: postgres://…")
	f.StringVar(&m.rig.Redis.URL, "redis", "", "a Redis that runs: redis://…")
	return cmd
}

func newProxy() *cobra.Command {
	m := measurement{suite: suites.PassThrough(), turn: 2 * time.Second, warmUp: time.Second, step: time.Second}
	return m.command(&cobra.Command{
		Use:   "proxy",
		Short: "What a statement costs that the proxy only passes on",
		Long: `proxy starts a private PostgreSQL and the proxy. If they are installed, it also starts PgBouncer in
session mode and HAProxy in TCP mode. It gives the same work to PostgreSQL directly and through each:

  select     SELECT 1 with pgbench, simple, extended and prepared, for each number of --clients
  pipelined  50 statements a round trip with pgbench, 8 clients
  copy       1,000,000 rows out and in by COPY, with psql` + turns,
		Example: `  pgflurry-bench proxy --out results
  pgflurry-bench proxy --workloads select --clients 16 --rounds 3 --duration 2s`,
	}, nil)
}

func newInsert() *cobra.Command {
	m := measurement{suite: suites.Inserts(), turn: time.Second, warmUp: time.Second, step: time.Second}
	cmd := m.command(&cobra.Command{
		Use:   "insert",
		Short: "What a primary key of each kind costs a table of a million rows",
		Long: `insert starts a private PostgreSQL. It fills a table with keys of each kind in turns, 1,000 rows
a statement, each statement a transaction. The kinds are nextval with CACHE 1 and 1000 and with an offset,
next_snowflake as the column's DEFAULT, UUID v4 and v7. A turn ends with the last row. Beside rows per
second the table has bytes of the log for each row, and the size of the key's index.` + turns,
		Example: `  pgflurry-bench insert --out results
  pgflurry-bench insert --rows 100000 --rounds 3`,
	}, func() error {
		if m.rig.Rows < suites.InsertStep || m.rig.Rows%suites.InsertStep != 0 {
			return fmt.Errorf("--rows is %d; expected a multiple of %d", m.rig.Rows, suites.InsertStep)
		}
		return nil
	})
	cmd.Flags().IntVar(&m.rig.Rows, "rows", 1_000_000, "how many rows the table has at the end, a multiple of 1000")
	return cmd
}

func newInprocess() *cobra.Command {
	m := measurement{
		suite: suites.Suite{
			Title: "IDs made in process", Clients: []int{1, 2, 8}, Bases: []string{report.ClockReading, inprocess.Next},
			Drivers: inprocess.Libraries, Verdicts: inprocess.Verdicts,
			Plan: func(r suites.Rig) (trial.Plan, error) { return inprocess.Plan(r.Clients) },
		},
		turn: 300 * time.Millisecond, warmUp: 100 * time.Millisecond, step: time.Millisecond, withoutServer: true,
	}
	return m.command(&cobra.Command{
		Use:   "inprocess",
		Short: "The generator beside the ID libraries that Go programs use",
		Long: `inprocess makes IDs within this process, without a server. It measures pgflurry's generator beside
bwmarrin/snowflake, sony/sonyflake, oklog/ulid, rs/xid and google/uuid. Each is called as its documents
say, for each number of --clients, which are goroutines here:

  a call                 layouts so wide that nobody waits: what does one ID cost?
  at the layout's limit  layouts as they come, asked for more than they have: is the rate held, and what does that burn?
` + turns[1:],
		Example: `  pgflurry-bench inprocess --out results
  pgflurry-bench inprocess --rounds 3 --duration 100ms`,
	}, nil)
}

// The size of a quick look: with the start of the servers it takes half a minute on two processors.
const (
	quickClients = 8
	quickRounds  = 2
)

// quicken sets the values of a quick look for all flags that are not given.
func (m *measurement) quicken() {
	m.rig.Quick, m.suite.Verdicts = true, nil
	for flag, set := range map[string]func(){
		"clients":   func() { m.rig.Clients = []int{quickClients} },
		"rounds":    func() { m.rounds = quickRounds },
		"duration":  func() { m.duration = time.Second },
		"warm-up":   func() { m.warmUp = 0 },
		"workloads": func() { m.rig.Workloads = m.suite.Workloads[:2] },
		"sources":   func() { m.rig.Sources = suites.QuickSources(m.rig.Servers) },
	} {
		if !m.flags.Changed(flag) {
			set()
		}
	}
}

// checkServers refuses servers beside none to compare with.
func (m *measurement) checkServers() error {
	s := m.rig.Servers
	if s.Postgres.URL == "" && s.Proxy.URL+s.IDDatabase.URL+s.Pooler.URL+s.Redis.URL != "" {
		return errors.New("--postgres is missing; expected it with --proxy, --id-database, --pgbouncer and " +
			"--redis, because the other sources are compared with its nextval")
	}
	return nil
}

// among refuses values that are not in a list, or twice in their own.
func among[T comparable](flag string, values, all []T) error {
	for i, value := range values {
		if all != nil && !slices.Contains(all, value) {
			return fmt.Errorf("%s has %q; expected some of %v", flag, fmt.Sprint(value), all)
		}
		if slices.Contains(values[:i], value) { // two trials with one name would be mixed up
			return fmt.Errorf("%s has %v twice; expected each once", flag, value)
		}
	}
	return nil
}
