package suites

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/bench/report"
	"pgflurry/bench/servers"
	"pgflurry/bench/trial"
)

// Inserts plans to fill a table with primary keys of each source that locks no row for a draw. It measures rows per
// second, the size of the key's index, and WAL per row. One connection inserts batchSize rows a statement, and each
// statement is a transaction.
type Inserts struct {
	Servers servers.Servers // with a proxy
	Rows    int             // of the full table, a multiple of batchSize
}

// InsertsTurn is about the time for a million rows, only for the estimate.
const InsertsTurn = 6 * time.Second

// tables are the CREATE TABLE statements, one a source.
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
	//go:embed sql/empty_rows.sql
	emptyRowsSQL string
	//go:embed sql/checkpoint.sql
	checkpointSQL string
)

// keyed is a source of keys.
type keyed struct {
	name, table string
	proxy       bool // the client draws batchSize at a time through the proxy; else the column has a DEFAULT
}

var insertSources = []keyed{
	{report.Nextval, "nextval.sql", false},
	{inDatabase, "snowflake.sql", false},
	{inBatches, "drawn.sql", true},
	{cachedNextval, "nextval_cached.sql", false},
	{offsetNextval, "nextval_offset.sql", false},
	{uuidv4, "uuidv4.sql", false},
	{uuidv7, "uuidv7.sql", false},
}

// Plan makes the trials. The caller fills in rounds, times and seed. A turn fills the table, however long that takes.
func (b Inserts) Plan() (trial.Plan, error) {
	var p trial.Plan
	if b.Rows < batchSize || b.Rows%batchSize != 0 {
		return p, fmt.Errorf("%d rows; expected a multiple of %d", b.Rows, batchSize)
	}
	task := fmt.Sprintf("%s rows by 1,000 a statement", report.Grouped(float64(b.Rows)))
	for _, k := range insertSources {
		create, err := tables.ReadFile("inserts/" + k.table)
		if err != nil {
			return p, err
		}
		p.WatchProcess(k.name, trial.Database, b.Servers.Postgres.PID)
		if k.proxy {
			p.WatchProcess(k.name, trial.Middle, b.Servers.Proxy.PID)
		}
		fill := walOf(b.Servers.Postgres.URL, b.fill(k, string(create)))
		if k.proxy {
			fill = Answered(b.Servers, fill)
		}
		p.Trials = append(p.Trials, trial.Trial{
			Workload: trial.WithClients(task, 1, "rows", task), Contender: k.name, Through: k.proxy, Run: fill,
		})
	}
	return p, nil
}

// fill creates the table and fills it, right after a checkpoint, so that each source finds the log in the same state.
// Only filling is measured. One statement before it warms the caches, and its rows are removed again.
func (b Inserts) fill(k keyed, create string) trial.Turn {
	return func(ctx context.Context, _ time.Duration, measure trial.Measure) (count trial.Count, err error) {
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
		defer func() {
			_, dropped := conn.Exec(context.WithoutCancel(ctx), dropRowsSQL)
			err = errors.Join(err, dropped)
		}()
		err = execAll(ctx, conn, dropRowsSQL, create)
		if err == nil {
			err = k.insert(ctx, conn, proxy)
		}
		if err == nil {
			err = execAll(ctx, conn, emptyRowsSQL, checkpointSQL)
		}
		if err != nil {
			return count, err
		}
		count, err = measure(func() (trial.Count, error) {
			began := time.Now()
			for range b.Rows / batchSize {
				if err := k.insert(ctx, conn, proxy); err != nil {
					return trial.Count{}, err
				}
			}
			return trial.Count{Operations: int64(b.Rows), Elapsed: time.Since(began)}, nil
		})
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
}

// execAll runs statements one after the other.
func execAll(ctx context.Context, conn *pgx.Conn, statements ...string) error {
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// insert adds batchSize rows.
func (k keyed) insert(ctx context.Context, conn, proxy *pgx.Conn) error {
	if !k.proxy {
		_, err := conn.Exec(ctx, insertDefaultsSQL, batchSize)
		return err
	}
	rows, err := proxy.Query(ctx, nextBatchSQL)
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
