package bench

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Inserts plans the filling of a table whose primary key comes from each of the ways that do not lock a row for a draw: rows per second,
// size of the key's index, WAL per row. One connection inserts batchSize rows a statement, each statement a transaction.
type Inserts struct {
	Servers Servers // with a proxy
	Rows    int     // of the table at the end, a multiple of batchSize
}

// InsertsTurn is about how long a million rows take; it only serves the estimate.
const InsertsTurn = 6 * time.Second

// tables are the CREATE TABLE statements, one a way.
//
//go:embed inserts/*.sql
var tables embed.FS

var (
	//go:embed sql/insert_defaults.sql
	insertDefaultsSQL string
	//go:embed sql/insert_drawn.sql
	insertDrawnSQL string
	//go:embed sql/index_size.sql
	indexSizeSQL string
	//go:embed sql/drop_rows.sql
	dropRowsSQL string
	//go:embed sql/checkpoint.sql
	checkpointSQL string
)

// keyed is a way to give rows their keys.
type keyed struct {
	name, table string
	proxy       bool // drawn through the proxy by the client, batchSize at a time; else by the column's DEFAULT
}

var insertWays = []keyed{
	{Nextval, "nextval.sql", false},
	{inDatabase, "snowflake.sql", false},
	{"next_snowflakes(1000), proxy", "drawn.sql", true},
	{"nextval, CACHE 1000", "nextval_cached.sql", false},
	{"nextval, offset 1 of 2", "nextval_offset.sql", false},
	{"UUID v4", "uuidv4.sql", false},
	{"UUID v7", "uuidv7.sql", false},
}

// Plan lists the trials; rounds, times and seed are the caller's to fill in. A turn fills the table, however long that takes.
func (b Inserts) Plan() (Plan, error) {
	p := Plan{Watch: make(map[string]map[string]int)}
	if b.Rows < batchSize || b.Rows%batchSize != 0 {
		return p, fmt.Errorf("%d rows; expected a multiple of %d", b.Rows, batchSize)
	}
	task := fmt.Sprintf("%s rows by 1,000 a statement", grouped(float64(b.Rows)))
	for _, k := range insertWays {
		create, err := tables.ReadFile("inserts/" + k.table)
		if err != nil {
			return p, err
		}
		p.watch(k.name, Database, b.Servers.Postgres.PID)
		if k.proxy {
			p.watch(k.name, Middle, b.Servers.Proxy.PID)
		}
		p.Trials = append(p.Trials, Trial{
			Workload: withClients(task, 1, "rows", task), Contender: k.name, Through: k.proxy,
			Run: func(ctx context.Context, _ time.Duration) (Count, error) { return b.fill(ctx, k, string(create)) },
		})
	}
	return p, nil
}

// fill makes the table anew, right after a checkpoint so that each way finds the log in the same state, and fills it.
func (b Inserts) fill(ctx context.Context, k keyed, create string) (count Count, err error) {
	conn, err := pgx.Connect(ctx, b.Servers.Postgres.URL)
	if err != nil {
		return count, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	proxy, err := pgx.Connect(ctx, b.Servers.Proxy.URL)
	if err != nil {
		return count, err
	}
	defer proxy.Close(context.WithoutCancel(ctx))
	for _, statement := range []string{dropRowsSQL, create, checkpointSQL} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return count, err
		}
	}
	defer func() {
		_, dropped := conn.Exec(context.WithoutCancel(ctx), dropRowsSQL)
		err = errors.Join(err, dropped)
	}()
	count, err = walOf(b.Servers.Postgres.URL, func(ctx context.Context, _ time.Duration) (Count, error) {
		began := time.Now()
		for range b.Rows / batchSize {
			if err := k.insert(ctx, conn, proxy); err != nil {
				return Count{}, err
			}
		}
		return Count{Operations: int64(b.Rows), Elapsed: time.Since(began)}, nil
	})(ctx, 0)
	if err != nil {
		return count, err
	}
	var index, rows int64
	if err := conn.QueryRow(ctx, indexSizeSQL).Scan(&index, &rows); err != nil {
		return count, err
	}
	if rows != int64(b.Rows) {
		return count, fmt.Errorf("the table has %d rows; expected %d", rows, b.Rows)
	}
	count.Index = &index
	return count, nil
}

// insert adds batchSize rows.
func (k keyed) insert(ctx context.Context, conn, proxy *pgx.Conn) error {
	if !k.proxy {
		_, err := conn.Exec(ctx, insertDefaultsSQL, batchSize)
		return err
	}
	draw, err := sources.ReadFile("sources/next_snowflakes_1000.sql")
	if err != nil {
		return err
	}
	rows, err := proxy.Query(ctx, string(draw))
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, insertDrawnSQL, ids)
	return err
}
