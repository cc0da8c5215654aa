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
	Sources []string // of SourceKeys; all if empty
	Quick   bool     // of the tasks only the first, one ID for a round trip
}

// groups are what is measured.
func (b IDs) groups() []group {
	if b.Quick {
		return groups[:1]
	}
	return groups
}

// Prepare makes what the sources draw from, and returns when the proxy answers from memory: before that it forwards.
// Servers that run already are asked first whether they are what they are said to be.
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

// CleanUp takes away what Prepare has made, but for rows named pgflurry_bench in tables of the schema pgflurry: a proxy
// may still hold numbers of the segment, and none is given twice.
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

// Plan lists the trials; rounds, times and seed are the caller's to fill in.
// Sources whose server is not there have none.
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

// chosen says whether a source is wanted.
func (b IDs) chosen(s source) bool { return len(b.Sources) == 0 || slices.Contains(b.Sources, s.key) }

// NotRun says which of the wanted sources have no server, and why.
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

// walOf adds to a count what the server wrote to its log meanwhile, by whatever cause.
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
