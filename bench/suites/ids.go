package suites

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgflurry/bench/driver"
	"pgflurry/bench/report"
	"pgflurry/bench/servers"
	"pgflurry/bench/trial"
)

// The workloads of IDs, as in --workloads.
const (
	preparedWorkload  = "prepared"
	openWorkload      = "open"
	simpleWorkload    = "simple"
	pipelinedWorkload = "pipelined"
	batchWorkload     = "batch"
	coldWorkload      = "cold"
	insertWorkload    = "insert"
	bulkWorkload      = "bulk"
)

// Names of contenders with a target, besides those of package report.
const (
	proxied    = "next_snowflake, proxy"
	unbacked   = "next_snowflake, ID database"
	inDatabase = "next_snowflake, function in the database"
	inBatches  = "next_snowflakes(1000), proxy"
)

// The tasks. Those with a target are judged in verdicts.go.
const (
	singlePrepared = "one per round trip, prepared"
	singleSimple   = "one per round trip, simple"
	batchPrepared  = "1,000 per statement, prepared"
	cold           = "20 of each new session, prepared"
	inserted       = "INSERT of one row, prepared"
	bulk           = "100,000 in one statement, prepared"
)

var pipelinedPrepared = fmt.Sprintf("%d pipelined, prepared", driver.PipelineLength)

// Sources by how they are asked. Those of one list take turns.
var (
	oneAtATime = []contender{
		{"nextval", report.Nextval, "sources/nextval.sql", fromPostgres},
		{"snowflake-proxy", proxied, "sources/next_snowflake.sql", fromProxy},
		{"snowflake-id-database", unbacked, "sources/next_snowflake.sql", fromIDDatabase},
		{"snowflake-function", inDatabase, "sources/next_snowflake.sql", fromPostgres},
		{"nextval-unlogged", report.Unlogged, "sources/nextval_unlogged.sql", fromPostgres},
		{"least", report.Least, "sources/next_snowflake.sql", fromLeast},
		redisIncr,
		{"nextval-pgbouncer", "nextval, PgBouncer", "sources/nextval.sql", fromPooler},
		{"snowflake-in-process", "next_snowflake, in process, leased", "", fromMemory},
		{"nextval-cached", "nextval, CACHE 1000", "sources/nextval_cached.sql", fromPostgres},
		{"nextval-offset", "nextval, offset 1 of 2", "sources/nextval_offset.sql", fromPostgres},
		{"nextval-clock", "nextval % 4096 + clock (can repeat)", "sources/nextval_clock.sql", fromPostgres},
		{"uuidv4", "UUID v4", "sources/uuidv4.sql", fromPostgres},
		{"uuidv7", "UUID v7", "sources/uuidv7.sql", fromPostgres},
		{"segment-proxy", "next_segment, proxy", "sources/next_segment.sql", fromProxy},
		{"segment-function", "next_segment, in the database", "sources/next_segment.sql", fromPostgres},
		{"auto-increment", "next_auto_increment (offset 1 of 2)", "sources/next_auto_increment.sql", fromPostgres},
		{"replace-id", "next_replace_id", "sources/next_replace_id.sql", fromPostgres},
		{"incr", "incr (counter row)", "sources/incr.sql", fromPostgres},
	}
	redisIncr = contender{"redis-incr", report.Redis, "", fromRedis}
	// asked in further ways: nextval, the proxy, the ID database, the function, the unlogged sequence, the least
	usual = oneAtATime[:6]
	batch = []contender{
		{"nextval", report.Nextval, "sources/nextval_1000.sql", fromPostgres},
		{"snowflake-proxy", inBatches, "sources/next_snowflakes_1000.sql", fromProxy},
		{
			"snowflake-id-database", "next_snowflakes(1000), ID database", "sources/next_snowflakes_1000.sql",
			fromIDDatabase,
		},
		{"series-proxy", "generate_series, proxy", "sources/next_snowflake_1000.sql", fromProxy},
		{
			"snowflake-function", "next_snowflakes(1000), function in the database",
			"sources/next_snowflakes_1000.sql", fromPostgres,
		},
	}
	pipelined = []contender{
		{"nextval", report.Nextval, "pgbench/pipelined_nextval.sql", fromPostgres},
		{"snowflake-proxy", proxied, "pgbench/pipelined_snowflake.sql", fromProxy},
		{"snowflake-id-database", unbacked, "pgbench/pipelined_snowflake.sql", fromIDDatabase},
		redisIncr,
	}
	rows = []contender{
		{"nextval", report.Nextval, "pgbench/insert_bigserial.sql", fromPostgres},
		{"floor", report.Floor, "pgbench/insert_least.sql", fromPostgres},
		{"snowflake-function", inDatabase, "pgbench/insert_snowflake.sql", fromPostgres},
	}
	manyRows = []contender{
		{"nextval", report.Nextval, "pgbench/bulk_nextval.sql", fromPostgres},
		{"floor", report.Floor, "pgbench/bulk_least.sql", fromPostgres},
		{"snowflake-function", inDatabase, "pgbench/bulk_snowflake.sql", fromPostgres},
	}
)

const (
	// From so many clients on, the first draws of new sessions show in a turn of seconds. coldFor is the time that
	// 64 sessions took for them on two busy processors.
	coldClients = 64
	coldFor     = 5 * time.Second
)

// shares of the closed loop's throughput, at which open loops ask
func (r Rig) shares() []float64 {
	if r.Quick {
		return []float64{0.5}
	}
	return []float64{0.25, 0.5, 0.75}
}

// SourceKeys are the keys of all sources.
func SourceKeys() (keys []string) {
	for _, c := range slices.Concat(oneAtATime, batch, rows) {
		if !slices.Contains(keys, c.key) {
			keys = append(keys, c.key)
		}
	}
	return keys
}

// IDs compares sources of IDs over a connection.
func IDs() Suite {
	return Suite{
		Title: "Sources of IDs over a connection",
		Workloads: []string{
			preparedWorkload, openWorkload, simpleWorkload, pipelinedWorkload, batchWorkload, coldWorkload,
			insertWorkload, bulkWorkload,
		},
		Clients: []int{1, 16, 64},
		Bases:   []string{report.Nextval, report.Redis, report.Floor, report.Least},
		Drivers: []string{pgxModule, "github.com/redis/go-redis/v9"},
		Needs:   needsOfIDs,
		Prepare: prepareIDs, CleanUp: cleanUpIDs, Plan: planIDs, Verdicts: idVerdicts, Summary: Summary,
	}
}

func needsOfIDs(r Rig) servers.Needs {
	asked := make(map[place]bool)
	for _, c := range oneAtATime {
		asked[c.from] = asked[c.from] || len(r.Sources) == 0 || slices.Contains(r.Sources, c.key)
	}
	return servers.Needs{
		Pooler: asked[fromPooler], Redis: asked[fromRedis], IDDatabase: asked[fromIDDatabase], Least: asked[fromLeast],
	}
}

const pgxModule = "github.com/jackc/pgx/v5"

// prepareIDs creates what the sources draw from. It returns when the proxy answers from memory, because before that it
// forwards. First it checks that given servers are what their flags say.
func prepareIDs(ctx context.Context, r Rig) error {
	private := r.Postgres.PID != 0
	if !private {
		if err := checkGiven(ctx, r.Servers); err != nil {
			return err
		}
	}
	if err := execute(ctx, r.Postgres.URL, "setup_ids"); err != nil {
		return fmt.Errorf("what the sources draw from cannot be made: %w; PostgreSQL needs the schema (pgflurry "+
			"migrate up), and the benchmark the right to make the schema pgflurry_bench", err)
	}
	if !private || r.Proxy.URL == "" {
		return nil
	}
	return awaitAnswers(ctx, r.Servers)
}

// cleanUpIDs removes what prepareIDs has created. Rows named pgflurry_bench in tables of schema pgflurry stay: a proxy
// may still hold numbers of the segment, and no number may be given twice.
func cleanUpIDs(ctx context.Context, s servers.Servers) error {
	err := execute(ctx, s.Postgres.URL, "clean_up_ids")
	if s.Redis.URL != "" {
		err = errors.Join(err, driver.CleanUpRedis(ctx, s.Redis.URL))
	}
	return err
}

func planIDs(r Rig) (p trial.Plan, err error) {
	if r.chosen(openWorkload) && !r.chosen(preparedWorkload) {
		return p, fmt.Errorf("the workload %s needs %s, whose throughput it takes shares of", openWorkload,
			preparedWorkload)
	}
	for _, clients := range r.Clients {
		warm := func(task, counts string) trial.Workload {
			w := trial.With(task, clients, "client", counts)
			switch {
			case r.Quick: // in half a minute
			case clients >= coldClients:
				w.Settle = coldFor
			case strings.Contains(task, report.OpenLoop): // a client's first draw holds up those behind it
				w.Settle = time.Second
			}
			return w
		}
		closed := make(map[string]*float64) // throughput, by contender
		at := func(task string, share float64) {
			w := warm(task, "IDs")
			r.add(&p, w, r.single(share), func(c contender, server servers.Server) trial.Turn {
				if closed[c.name] == nil {
					closed[c.name] = new(float64)
				}
				return r.drawing(c, server, w, 1, driver.Pace{Share: share, Closed: closed[c.name]})
			})
		}
		if r.chosen(preparedWorkload) {
			at(singlePrepared, 0)
		}
		if r.chosen(openWorkload) && clients == r.Clients[len(r.Clients)/2] {
			for _, share := range r.shares() {
				at(fmt.Sprintf("%s%s%.0f %%", singlePrepared, report.OpenLoop, 100*share), share)
			}
		}
		if r.chosen(simpleWorkload) {
			r.pgbench(&p, warm(singleSimple, "IDs"), driver.PgbenchRun{Mode: "simple", Each: 1}, usual)
		}
		if r.chosen(pipelinedWorkload) {
			w := warm(pipelinedPrepared, "IDs")
			r.add(&p, w, pipelined, func(c contender, server servers.Server) trial.Turn {
				return r.drawing(c, server, w, driver.PipelineLength, driver.Pace{})
			})
		}
		if r.chosen(batchWorkload) && clients >= coldClients {
			r.Say(fmt.Sprintf("%s, %d clients: that is more than the layout has, so calls are forwarded",
				batchPrepared, clients))
		} else if r.chosen(batchWorkload) {
			r.pgbench(&p, trial.With(batchPrepared, clients, "client", "IDs"),
				driver.PgbenchRun{Mode: "prepared", Each: 1000}, batch)
		}
		if r.chosen(insertWorkload) {
			r.pgbench(&p, warm(inserted, "rows"), driver.PgbenchRun{Mode: "prepared", Each: 1}, rows)
		}
	}
	if r.chosen(coldWorkload) {
		r.pgbench(&p, trial.With(cold, coldClients, "client", "IDs"),
			driver.PgbenchRun{Mode: "prepared", Each: 1, Leave: 20}, usual[:5])
	}
	if r.chosen(bulkWorkload) {
		r.pgbench(&p, trial.With(bulk, 1, "client", "IDs"), driver.PgbenchRun{Mode: "prepared", Each: 100_000},
			manyRows)
	}
	if len(p.Trials) == 0 {
		return p, fmt.Errorf("none of the sources %v can run", r.Sources)
	}
	return p, nil
}

// single are the sources of single IDs. In an open loop they are those that users choose between first.
func (r Rig) single(share float64) []contender {
	if share == 0 || r.Quick {
		return oneAtATime
	}
	return oneAtATime[:8]
}

// drawing makes turns of a source that gives so many IDs a round trip, by pgbench or by its own driver.
func (r Rig) drawing(c contender, server servers.Server, w trial.Workload, each int64, pace driver.Pace) trial.Turn {
	calls := driver.Calls{Clients: w.Clients, Pace: pace}
	switch c.from {
	case fromRedis:
		calls.Dial = driver.Incr(each > 1)
	case fromMemory:
		return driver.Leased(w.Clients, pace, server.URL)
	default:
		return r.Pgbench.Against(driver.PgbenchRun{
			Script: c.script, Mode: "prepared", Clients: w.Clients, Each: each, Pace: pace, Settle: w.Settle,
		}, server.URL)
	}
	return calls.Against(server.URL)
}
