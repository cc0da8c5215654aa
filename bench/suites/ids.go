package suites

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	_ "embed" // the SQL

	"github.com/jackc/pgx/v5"

	"pgflurry/bench/driver"
	"pgflurry/bench/servers"
	"pgflurry/bench/trial"
)

var (
	//go:embed sql/setup_ids.sql
	setupIDsSQL string
	//go:embed sql/clean_up_ids.sql
	cleanUpIDsSQL string
)

// IDs plans the comparison of sources of IDs over a connection.
type IDs struct {
	Servers servers.Servers
	Clients []int
	Sources []string // some of SourceKeys; empty: all
	Quick   bool     // only the first task: one ID a round trip
}

// groups are the sources by task.
func (b IDs) groups() []group {
	if b.Quick {
		return groups[:1]
	}
	return groups
}

// Prepare creates what the sources draw from. It returns when the proxy answers from memory, because before that it
// forwards. First it checks that given servers are what their flags say.
func (b IDs) Prepare(ctx context.Context) error {
	private := b.Servers.Postgres.PID != 0
	if !private {
		if err := checkGiven(ctx, b.Servers); err != nil {
			return err
		}
	}
	conn, err := pgx.Connect(ctx, b.Servers.Postgres.URL)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.PgConn().Exec(ctx, setupIDsSQL).ReadAll(); err != nil {
		return fmt.Errorf("what the sources draw from cannot be made: %w; PostgreSQL needs the schema (pgflurry "+
			"migrate up), and the benchmark the right to make the schema pgflurry_bench", err)
	}
	if target := b.Servers.MariaDB.URL; target != "" {
		if err := driver.SetUpMariaDB(ctx, target); err != nil {
			return fmt.Errorf("tables pgflurry_bench_… cannot be made in MariaDB: %w", err)
		}
	}
	if !private || b.Servers.Proxy.URL == "" {
		return nil
	}
	return awaitAnswers(ctx, b.Servers)
}

// CleanUp removes what Prepare has created. Rows named pgflurry_bench in tables of schema pgflurry stay: a proxy may
// still hold numbers of the segment, and no number may be given twice.
func (b IDs) CleanUp(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, b.Servers.Postgres.URL)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.PgConn().Exec(ctx, cleanUpIDsSQL).ReadAll()
	if target := b.Servers.MariaDB.URL; target != "" {
		err = errors.Join(err, driver.CleanUpMariaDB(ctx, target))
	}
	if target := b.Servers.Redis.URL; target != "" {
		err = errors.Join(err, driver.CleanUpRedis(ctx, target))
	}
	return err
}

// Plan makes the trials. The caller fills in rounds, times and seed. Sources without a server get no trial.
func (b IDs) Plan() (trial.Plan, error) {
	var p trial.Plan
	for _, clients := range b.Clients {
		for _, g := range b.groups() {
			workload := trial.WithClients(g.task, clients, "IDs", g.task)
			for _, s := range g.sources {
				server := s.from.of(b.Servers)
				if !b.chosen(s) || server.URL == "" {
					continue
				}
				run, err := s.run(g, clients, server.URL)
				if err != nil {
					return p, err
				}
				database := server.PID
				if s.from == fromPostgres || s.from.inFront() {
					database = b.Servers.Postgres.PID
				}
				if s.from.logs() {
					run = walOf(b.Servers.Postgres.URL, run)
				}
				p.WatchProcess(s.name, trial.Database, database)
				if s.from.inFront() {
					p.WatchProcess(s.name, trial.Middle, server.PID)
				}
				if s.from == fromProxy && s.draws() {
					run = Answered(b.Servers, run)
				}
				p.Trials = append(p.Trials,
					trial.Trial{Workload: workload, Contender: s.name, Through: s.from.inFront(), Run: run})
			}
		}
	}
	if len(p.Trials) == 0 {
		return p, fmt.Errorf("none of the sources %v can run: %v", b.Sources, b.NotRun())
	}
	return p, nil
}

// chosen says whether the user wants a source.
func (b IDs) chosen(s source) bool { return len(b.Sources) == 0 || slices.Contains(b.Sources, s.key) }

// NotRun lists the wanted sources without a server, and why.
func (b IDs) NotRun() (lines []string) {
	for _, g := range b.groups() {
		for _, s := range g.sources {
			if server := s.from.of(b.Servers); b.chosen(s) && server.URL == "" {
				if line := s.name + ": " + server.Missing; !slices.Contains(lines, line) {
					lines = append(lines, line)
				}
			}
		}
	}
	return lines
}

//go:embed sql/wal.sql
var walSQL string

// walOf adds to a count all that the server wrote to its log during the turn, whatever the cause.
func walOf(server string, turn trial.Turn) trial.Turn {
	return func(ctx context.Context, d time.Duration, measure trial.Measure) (trial.Count, error) {
		conn, err := pgx.Connect(ctx, server)
		if err != nil {
			return trial.Count{}, err
		}
		defer conn.Close(context.WithoutCancel(ctx))
		return turn(ctx, d, func(work func() (trial.Count, error)) (trial.Count, error) {
			var before, after int64
			if err := conn.QueryRow(ctx, walSQL).Scan(&before); err != nil {
				return trial.Count{}, err
			}
			count, err := measure(work)
			if err != nil {
				return count, err
			}
			if err := conn.QueryRow(ctx, walSQL).Scan(&after); err != nil {
				return count, err
			}
			written := after - before
			count.WAL = &written
			return count, nil
		})
	}
}
