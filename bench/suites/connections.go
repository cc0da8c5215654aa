package suites

import (
	"context"
	_ "embed" // the SQL
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/bench/driver"
	"pgflurry/bench/report"
	"pgflurry/bench/servers"
	"pgflurry/bench/trial"
)

// The workloads of the benchmark of connections, as in --workloads, besides SingleWorkload.
const (
	memoryWorkload  = "memory"
	connectWorkload = "connect"
	besideWorkload  = "beside"
)

// ConnectionWorkloads are all workloads, in order. Memory is first: later it would include what servers keep of clients
// that have left.
var ConnectionWorkloads = []string{memoryWorkload, connectWorkload, SingleWorkload, besideWorkload}

const (
	stay       = "connections that stay idle"
	logIn      = "connect with a password"
	besideMany = "one per round trip, beside clients that draw 10,000 a statement"

	// mostBackends limits idle connections if each has a process of PostgreSQL.
	mostBackends = 400
	manyRows     = 10_000
)

var (
	connectClients = []int{1, 8}
	besideClients  = []int{1, 4, 8}
)

var (
	//go:embed sql/let_draw.sql
	letDrawSQL string
	//go:embed sql/next_snowflakes_10000.sql
	manySnowflakesSQL string
	//go:embed sql/nextval_10000.sql
	manyNextvalsSQL string
)

// connected are the sources of this benchmark. Their clients log in with a password, by SCRAM if the server supports
// it. PgBouncer pools transactions. So a draw is a Query, which all of them take.
var connected = []source{
	{"nextval", report.Nextval, "nextval.sql", fromPostgres},
	{"nextval-pgbouncer", pooledNextval, "nextval.sql", fromPooler},
	redisIncr,
	{"snowflake-function", inDatabase, "next_snowflake.sql", fromPostgres},
	{"snowflake-proxy", proxied, "next_snowflake.sql", fromProxy},
	{"snowflake-id-database", unbacked, "next_snowflake.sql", fromIDDatabase},
}

// Connections plans what a connection costs: its memory, the time to connect, and an ID. It also plans how long one
// client waits while others draw many IDs.
type Connections struct {
	Servers   servers.Servers
	Workloads []string
	Clients   []int // of the workload single
	Idle      int   // idle connections without a process of their own

	before map[int]int64 // memory of each server after its first client, by process
}

// Needs are the servers for it.
func (b *Connections) Needs() servers.Needs {
	return servers.Needs{Pooler: true, Redis: true, IDDatabase: true, Passwords: true}
}

// Prepare creates what the sources draw from. It measures the servers' memory when each has had one client, because
// then their programs are in memory.
func (b *Connections) Prepare(ctx context.Context) error {
	if err := (IDs{Servers: b.Servers}).Prepare(ctx); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, b.Servers.Postgres.URL)
	if err != nil {
		return err
	}
	_, err = conn.PgConn().Exec(ctx, letDrawSQL).ReadAll()
	_ = conn.Close(ctx)
	if err != nil {
		return fmt.Errorf("clients cannot be let draw: %w", err)
	}
	return b.look(ctx)
}

// look records the memory of the servers.
func (b *Connections) look(ctx context.Context) error {
	for _, s := range connected {
		if s.from.of(b.Servers).URL == "" {
			continue
		}
		_, err := b.single(s, 1)(ctx, time.Millisecond, trial.Unwatched)
		if err != nil {
			return fmt.Errorf("the first client of %s: %w", s.name, err)
		}
	}
	b.before = make(map[int]int64)
	for _, s := range connected {
		for _, pid := range b.processes(s) {
			if _, known := b.before[pid]; known || pid == 0 {
				continue
			}
			var err error
			if b.before[pid], err = trial.Memory(pid); err != nil {
				return fmt.Errorf("the memory of %s after its first client: %w", s.name, err)
			}
		}
	}
	return nil
}

// NotRun lists the sources without a server, and why.
func (b *Connections) NotRun() (lines []string) {
	for _, s := range connected {
		if server := s.from.of(b.Servers); server.URL == "" {
			lines = append(lines, s.name+": "+server.Missing)
		}
	}
	return lines
}

// Plan makes the trials. The caller fills in rounds, times and seed.
func (b *Connections) Plan() (p trial.Plan, err error) {
	for _, workload := range b.Workloads {
		switch workload {
		case memoryWorkload:
			w := trial.Workload{Name: stay, Task: stay, Counts: "connections", Group: workload}
			err = b.add(&p, w, func(s source, draw driver.Source) trial.Turn {
				return driver.Stay(draw, b.Servers.As(s.from.of(b.Servers)), b.staying(s), func() (int64, error) {
					return b.weigh(s)
				})
			})
		case connectWorkload:
			for _, clients := range connectClients {
				w := trial.WithClients(logIn, clients, "connections", workload)
				err = b.add(&p, w, func(s source, draw driver.Source) trial.Turn {
					return driver.Connect(draw, b.Servers.As(s.from.of(b.Servers)), clients)
				})
			}
		case SingleWorkload:
			for _, clients := range b.Clients {
				err = b.add(&p, trial.WithClients(singleSimple, clients, "IDs", workload),
					func(s source, _ driver.Source) trial.Turn { return b.single(s, clients) })
			}
		case besideWorkload:
			for _, clients := range besideClients {
				err = b.add(&p, trial.WithClients(besideMany, clients, "IDs", workload),
					func(s source, _ driver.Source) trial.Turn { return b.beside(s, clients) })
			}
		default:
			err = fmt.Errorf("there is no workload %q; expected some of %v", workload, ConnectionWorkloads)
		}
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

// add adds a trial of each source that has a server. turn may return nil: no trial.
func (b *Connections) add(p *trial.Plan, w trial.Workload, turn func(source, driver.Source) trial.Turn) error {
	for _, s := range connected {
		server := s.from.of(b.Servers)
		if server.URL == "" {
			continue
		}
		draw, err := s.drawing(1)
		if err != nil {
			return err
		}
		run := turn(s, draw)
		if run == nil {
			continue
		}
		for role, pid := range b.processes(s) {
			p.WatchProcess(s.name, role, pid)
		}
		p.Trials = append(p.Trials, trial.Trial{Workload: w, Contender: s.name, Through: s.from.inFront(), Run: run})
	}
	return nil
}

// processes are those of the servers behind a source, by role.
func (b *Connections) processes(s source) map[string]int {
	own := s.from.of(b.Servers).PID
	if s.from.inFront() {
		return map[string]int{trial.Middle: own, trial.Database: b.Servers.Postgres.PID}
	}
	return map[string]int{trial.Database: own}
}

// staying is how many connections stay idle.
func (b *Connections) staying(s source) int {
	if s.from == fromPostgres || s.from == fromProxy {
		return min(b.Idle, mostBackends)
	}
	return b.Idle
}

// weigh is the growth of the servers' memory since their first client.
func (b *Connections) weigh(s source) (more int64, err error) {
	for _, pid := range b.processes(s) {
		now, err := trial.Memory(pid)
		if err != nil {
			return 0, err
		}
		more += now - b.before[pid]
	}
	return more, nil
}

// drawing is how clients of a source draw single IDs.
func (s source) drawing(clients int) (driver.Source, error) {
	if s.from == fromRedis {
		return driver.RedisDraw{Clients: clients}, nil
	}
	statement, err := sources.ReadFile("sources/" + s.file)
	return driver.Draw{SQL: string(statement), Mode: driver.Simple, Rows: 1, Clients: clients}, err
}

func (b *Connections) single(s source, clients int) trial.Turn {
	draw, err := s.drawing(clients)
	if err != nil {
		return nil // Plan has read the same file
	}
	target := b.Servers.As(s.from.of(b.Servers))
	switch draw := draw.(type) {
	case driver.RedisDraw:
		return draw.From(target)
	case driver.Draw:
		if s.from == fromProxy {
			return Answered(b.Servers, draw.From(target))
		}
		return draw.From(target)
	}
	return nil
}

// beside is one client of a source that draws single IDs, while others of the same source draw many. There is none if a
// statement draws one ID at most.
func (b *Connections) beside(s source, clients int) trial.Turn {
	one, err := s.drawing(1)
	quick, is := one.(driver.Draw)
	if err != nil || !is {
		return nil
	}
	many := driver.Draw{SQL: manyNextvalsSQL, Mode: driver.Simple, Rows: manyRows, Clients: clients}
	if s.draws() {
		many.SQL = manySnowflakesSQL
	}
	return driver.Beside(quick, many, b.Servers.As(s.from.of(b.Servers)))
}
