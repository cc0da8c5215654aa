package bench

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	_ "embed" // the SQL

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

//go:embed sources/*.sql
var sources embed.FS

var (
	//go:embed sql/setup_ids.sql
	setupIDsSQL string
	//go:embed sql/function_worker.sql
	functionWorkerSQL string
	//go:embed sql/worker_of.sql
	workerOfSQL string
)

// Nextval is the source that the others are compared with.
const Nextval = "nextval"

// source is a way to get IDs by a statement.
type source struct {
	name  string
	file  string // of bench/sources
	proxy bool   // through the proxy, else from PostgreSQL directly
}

// Sources by how they are asked. Within a list they take turns.
var (
	oneAtATime = []source{
		{Nextval, "nextval.sql", false},
		{"next_snowflake, proxy", "next_snowflake.sql", true},
		{"next_snowflake, function in the database", "next_snowflake.sql", false},
		{"nextval, CACHE 1000", "nextval_cached.sql", false},
		{"nextval % 4096 + clock (can repeat)", "nextval_clock.sql", false},
		{"UUID v4", "uuidv4.sql", false},
		{"UUID v7", "uuidv7.sql", false},
		{"next_segment, proxy", "next_segment.sql", true},
		{"next_segment, in the database", "next_segment.sql", false},
		{"next_auto_increment (offset 1 of 2)", "next_auto_increment.sql", false},
		{"next_replace_id", "next_replace_id.sql", false},
		{"incr (counter row)", "incr.sql", false},
	}
	proxyAndNextval = oneAtATime[:2]
	batches         = []source{
		{Nextval, "nextval_1000.sql", false},
		{"next_snowflakes(1000), proxy", "next_snowflakes_1000.sql", true},
		{"generate_series, proxy", "next_snowflake_1000.sql", true},
		{"next_snowflakes(1000), function in the database", "next_snowflakes_1000.sql", false},
	}
)

const batchSize = 1000

// IDs plans the comparison of the ways to get an ID over a connection.
type IDs struct {
	Servers Servers
	Clients []int
}

// Prepare makes what the sources draw from, and returns when the proxy answers from memory: before that it forwards.
func (b IDs) Prepare(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, b.Servers.Postgres.URL)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.PgConn().Exec(ctx, setupIDsSQL).ReadAll(); err != nil {
		return fmt.Errorf("what the sources draw from cannot be made: %w", err)
	}
	var own int64
	if err := conn.QueryRow(ctx, functionWorkerSQL).Scan(&own); err != nil {
		return err
	}
	return b.awaitProxy(ctx, conn, own)
}

// answerPatience is how long the proxy may take to get a worker.
const answerPatience = 30 * time.Second

// awaitProxy waits until an ID drawn through the proxy is not of the worker of the function in the database.
func (b IDs) awaitProxy(ctx context.Context, direct *pgx.Conn, own int64) error {
	ctx, cancel := context.WithTimeoutCause(ctx, answerPatience, errors.New("the proxy does not answer from memory"))
	defer cancel()
	conn, err := pgx.Connect(ctx, b.Servers.Proxy.URL)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	draw, err := sources.ReadFile("sources/next_snowflake.sql")
	if err != nil {
		return err
	}
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		var id, worker int64
		if err := conn.QueryRow(ctx, string(draw), pgx.QueryExecModeSimpleProtocol).Scan(&id); err != nil {
			return err
		}
		if err := direct.QueryRow(ctx, workerOfSQL, id).Scan(&worker); err != nil || worker != own {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Plan lists the trials; rounds, times and seed are the caller's to fill in.
func (b IDs) Plan() (Plan, error) {
	p := Plan{Watch: make(map[string]map[string]int)}
	for _, clients := range b.Clients {
		for _, w := range []struct {
			name    string
			mode    Mode
			each    int
			sources []source
		}{
			{"one per round trip, prepared", Prepared, 1, oneAtATime},
			{"one per round trip, simple", Simple, 1, proxyAndNextval},
			{fmt.Sprintf("%d pipelined, prepared", pipelineLength), Pipelined, 1, proxyAndNextval},
			{"1,000 per statement, prepared", Prepared, batchSize, batches},
		} {
			workload := withClients(w.name, clients, "IDs", w.name)
			for _, s := range w.sources {
				statement, err := sources.ReadFile("sources/" + s.file)
				if err != nil {
					return p, err
				}
				server := b.Servers.Postgres
				if s.proxy {
					server = b.Servers.Proxy
				}
				p.watch(s.name, Database, b.Servers.Postgres.PID)
				if s.proxy {
					p.watch(s.name, Middle, b.Servers.Proxy.PID)
				}
				draw := Draw{SQL: string(statement), Mode: w.mode, Rows: w.each, Clients: clients}
				p.Trials = append(p.Trials, Trial{Workload: workload, Contender: s.name, Through: s.proxy, Run: walOf(b.Servers.Postgres.URL, draw.From(server.URL))})
			}
		}
	}
	return p, nil
}

//go:embed sql/wal.sql
var walSQL string

// walOf adds to a count what the server wrote to its log meanwhile, by whatever cause.
func walOf(server string, run func(context.Context, time.Duration) (Count, error)) func(context.Context, time.Duration) (Count, error) {
	return func(ctx context.Context, d time.Duration) (Count, error) {
		conn, err := pgx.Connect(ctx, server)
		if err != nil {
			return Count{}, err
		}
		defer conn.Close(context.WithoutCancel(ctx))
		var before, after int64
		if err := conn.QueryRow(ctx, walSQL).Scan(&before); err != nil {
			return Count{}, err
		}
		count, err := run(ctx, d)
		if err != nil {
			return count, err
		}
		if err := conn.QueryRow(ctx, walSQL).Scan(&after); err != nil {
			return count, err
		}
		written := after - before
		count.WAL = &written
		return count, nil
	}
}

var errRows = errors.New("another number of rows than asked for")

// rowsOf counts the rows of a result.
func rowsOf(r *pgconn.ResultReader) (rows int, err error) {
	for r.NextRow() {
		rows++
	}
	_, err = r.Close()
	return rows, err
}

// IDVerdicts says what the figures mean, for the cells that have a target.
func IDVerdicts(figures []Figure) []Verdict {
	targets := map[string]map[string]float64{
		"next_snowflake, proxy": {
			"one per round trip, prepared, 1 client": 1.3, "one per round trip, prepared, 16 clients": 2, "one per round trip, prepared, 64 clients": 2,
			"one per round trip, simple, 1 client": 1.3, "one per round trip, simple, 16 clients": 2, "one per round trip, simple, 64 clients": 2,
			"50 pipelined, prepared, 8 clients": 5,
		},
		"next_snowflake, function in the database": {
			"one per round trip, prepared, 1 client": 0.9, "one per round trip, prepared, 16 clients": 0.9, "one per round trip, prepared, 64 clients": 0.9,
		},
	}
	var verdicts []Verdict
	for _, f := range figures {
		target, has := targets[f.Contender][f.Workload]
		if r, ok := f.Ratios[Nextval]; ok && has {
			verdicts = append(verdicts, Verdict{f.Workload + ": " + f.Contender + " to nextval", r.Median, target})
		}
	}
	return verdicts
}
