package suites

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"pgflurry/bench/driver"
	"pgflurry/bench/report"
	"pgflurry/bench/servers"
	"pgflurry/bench/trial"
)

//go:embed sources/*.sql
var sources embed.FS

// Sources that more than one measurement uses.
var (
	//go:embed sources/next_snowflake.sql
	nextSnowflakeSQL string
	//go:embed sources/next_snowflakes_1000.sql
	nextBatchSQL string
)

// Names of sources with a target, besides report.Nextval and report.Redis.
const (
	proxied    = "next_snowflake, proxy"
	unbacked   = "next_snowflake, ID database"
	inDatabase = "next_snowflake, function in the database"
	inBatches  = "next_snowflakes(1000), proxy"
)

// Names of sources that also fill tables.
const (
	cachedNextval = "nextval, CACHE 1000"
	pooledNextval = "nextval, PgBouncer"
	offsetNextval = "nextval, offset 1 of 2"
	uuidv4        = "UUID v4"
	uuidv7        = "UUID v7"
)

// Tasks with targets, besides pipelinedPrepared.
const (
	singlePrepared = "one per round trip, prepared"
	singleSimple   = "one per round trip, simple"
	batchPrepared  = "1,000 per statement, prepared"
)

func pipelinedPrepared() string { return fmt.Sprintf("%d pipelined, prepared", driver.PipelineLength) }

// place is the server that a source asks.
type place int

const (
	fromPostgres place = iota
	fromProxy
	fromPooler
	fromRedis
	fromMariaDB
	fromIDDatabase
)

// of returns that server.
func (p place) of(s servers.Servers) servers.Server {
	return [...]servers.Server{
		fromPostgres: s.Postgres, fromProxy: s.Proxy, fromPooler: s.Pooler, fromRedis: s.Redis, fromMariaDB: s.MariaDB,
		fromIDDatabase: s.IDDatabase,
	}[p]
}

// logs says that its IDs may cause writes to PostgreSQL's log: the marks of a worker do, also those of an ID database.
func (p place) logs() bool { return p == fromPostgres || p == fromIDDatabase || p.inFront() }

// inFront says that it is in front of PostgreSQL.
func (p place) inFront() bool { return p == fromProxy || p == fromPooler }

// source is where clients get IDs.
type source struct {
	key  string // for --sources
	name string
	file string // of bench/sources; empty if no statement is sent to PostgreSQL or in front of it
	from place
}

// Sources by how they are asked. Those of one list take turns.
var (
	oneAtATime = []source{
		{"nextval", report.Nextval, "nextval.sql", fromPostgres},
		{"snowflake-proxy", proxied, "next_snowflake.sql", fromProxy},
		{"snowflake-id-database", unbacked, "next_snowflake.sql", fromIDDatabase},
		{"snowflake-function", inDatabase, "next_snowflake.sql", fromPostgres},
		{inProcess, "next_snowflake, in process, leased", "", fromPostgres},
		{"nextval-pgbouncer", pooledNextval, "nextval.sql", fromPooler},
		{"nextval-cached", cachedNextval, "nextval_cached.sql", fromPostgres},
		{"nextval-offset", offsetNextval, "nextval_offset.sql", fromPostgres},
		{"nextval-clock", "nextval % 4096 + clock (can repeat)", "nextval_clock.sql", fromPostgres},
		{"uuidv4", uuidv4, "uuidv4.sql", fromPostgres},
		{"uuidv7", uuidv7, "uuidv7.sql", fromPostgres},
		{"segment-proxy", "next_segment, proxy", "next_segment.sql", fromProxy},
		{"segment-function", "next_segment, in the database", "next_segment.sql", fromPostgres},
		{"auto-increment", "next_auto_increment (offset 1 of 2)", "next_auto_increment.sql", fromPostgres},
		{"replace-id", "next_replace_id", "next_replace_id.sql", fromPostgres},
		{"incr", "incr (counter row)", "incr.sql", fromPostgres},
		redisIncr,
		{"mariadb-auto-increment", "MariaDB auto_increment (offset 1 of 2)", "", fromMariaDB},
		{mariadbReplace, "MariaDB REPLACE INTO, LAST_INSERT_ID()", "", fromMariaDB},
	}
	redisIncr = source{"redis-incr", report.Redis, "", fromRedis}
	quickest  = oneAtATime[:3]
	batches   = []source{
		{"nextval", report.Nextval, "nextval_1000.sql", fromPostgres},
		{"snowflake-proxy", inBatches, "next_snowflakes_1000.sql", fromProxy},
		{"snowflake-id-database", "next_snowflakes(1000), ID database", "next_snowflakes_1000.sql", fromIDDatabase},
		{"series-proxy", "generate_series, proxy", "next_snowflake_1000.sql", fromProxy},
		{
			"snowflake-function", "next_snowflakes(1000), function in the database",
			"next_snowflakes_1000.sql", fromPostgres,
		},
	}
)

const (
	batchSize      = 1000
	mariadbReplace = "mariadb-replace"
	inProcess      = "snowflake-in-process"
)

// group is sources with the same task.
type group struct {
	task    string
	mode    driver.Mode
	each    int // IDs a statement
	sources []source
}

var groups = []group{
	{singlePrepared, driver.Prepared, 1, oneAtATime},
	{singleSimple, driver.Simple, 1, quickest},
	{pipelinedPrepared(), driver.Pipelined, 1, append(slices.Clone(quickest), redisIncr)},
	{batchPrepared, driver.Prepared, batchSize, batches},
}

// QuickKeys are the sources for a quick look: they give one ID a round trip.
func QuickKeys() (keys []string) {
	for _, s := range oneAtATime {
		keys = append(keys, s.key)
	}
	return keys
}

// SourceKeys are the keys of all sources.
func SourceKeys() (keys []string) {
	for _, g := range groups {
		for _, s := range g.sources {
			if !slices.Contains(keys, s.key) {
				keys = append(keys, s.key)
			}
		}
	}
	return keys
}

// draws says whether its IDs are those of next_snowflake.
func (s source) draws() bool { return strings.HasPrefix(s.file, "next_snowflake") }

// run makes a turn of the source.
func (s source) run(g group, clients int, target string) (trial.Turn, error) {
	switch {
	case s.key == inProcess:
		return driver.LeasedDraw{Clients: clients}.From(target), nil
	case s.from == fromRedis:
		return driver.RedisDraw{Pipelined: g.mode == driver.Pipelined, Clients: clients}.From(target), nil
	case s.from == fromMariaDB:
		return driver.MariaDBDraw{Replace: s.key == mariadbReplace, Clients: clients}.From(target), nil
	}
	statement, err := sources.ReadFile("sources/" + s.file)
	if err != nil {
		return nil, err
	}
	return driver.Draw{SQL: string(statement), Mode: g.mode, Rows: g.each, Clients: clients}.From(target), nil
}

// Needs are the servers that the chosen sources ask, besides PostgreSQL and the proxy. None chosen means all.
func (b IDs) Needs() (n servers.Needs) {
	for _, s := range oneAtATime {
		if b.chosen(s) {
			n.Pooler, n.Redis, n.MariaDB = n.Pooler || s.from == fromPooler, n.Redis || s.from == fromRedis,
				n.MariaDB || s.from == fromMariaDB
			n.IDDatabase = n.IDDatabase || s.from == fromIDDatabase
		}
	}
	return n
}
