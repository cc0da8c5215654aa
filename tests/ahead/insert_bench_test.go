//go:build full

package ahead

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pgflurry/client"
	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

//go:embed bench.sql
var benchSQL string

const (
	turn = time.Second // of each contender in a round
	many = 1_000       // rows of the long statement
	few  = 10          // lines of an order
)

// contender is a way to give rows their keys. Tables are named after it.
type contender struct {
	db  *pgxpool.Pool
	ids *client.Pool // nil: the DEFAULT makes the key, and RETURNING reads it
}

// in puts the kind of table into a statement.
func in(table, text string) string { return strings.ReplaceAll(text, "{}", table) }

// one inserts a row.
func (c contender) one(ctx context.Context, table string) (int, error) {
	if c.ids == nil {
		var id int64
		return 1, c.db.QueryRow(ctx, in(table, "INSERT INTO order_{} (name) VALUES ($1) RETURNING id"), "Ada").
			Scan(&id)
	}
	id, err := c.ids.Next(ctx)
	if err != nil {
		return 0, err
	}
	_, err = c.db.Exec(ctx, in(table, "INSERT INTO order_{} (id, name) VALUES ($1, $2)"), id, "Ada")
	return 1, err
}

// thousand inserts many rows with one statement.
func (c contender) thousand(ctx context.Context, table string) (int, error) {
	names := slices.Repeat([]string{"Ada"}, many)
	if c.ids == nil {
		rows, err := c.db.Query(ctx,
			in(table, "INSERT INTO order_{} (name) SELECT unnest($1::text[]) RETURNING id"), names)
		if err != nil {
			return 0, err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		return len(ids), err
	}
	ids, err := c.ids.NextN(ctx, many)
	if err != nil {
		return 0, err
	}
	_, err = c.db.Exec(ctx,
		in(table, "INSERT INTO order_{} (id, name) SELECT * FROM unnest($1::bigint[], $2::text[])"), ids, names)
	return many, err
}

// order inserts a row and its lines in one transaction. If the keys are known, that takes one round trip.
func (c contender) order(ctx context.Context, table string) (int, error) {
	var batch pgx.Batch
	if c.ids == nil {
		err := pgx.BeginFunc(ctx, c.db, func(tx pgx.Tx) error {
			var id int64
			if err := tx.QueryRow(ctx, in(table, "INSERT INTO order_{} (name) VALUES ($1) RETURNING id"), "Ada").
				Scan(&id); err != nil {
				return err
			}
			for range few {
				batch.Queue(in(table, "INSERT INTO line_{} (order_id, name) VALUES ($1, $2)"), id, "lamp")
			}
			return tx.SendBatch(ctx, &batch).Close()
		})
		return 1 + few, err
	}
	ids, err := c.ids.NextN(ctx, 1+few)
	if err != nil {
		return 0, err
	}
	batch.Queue(in(table, "INSERT INTO order_{} (id, name) VALUES ($1, $2)"), ids[0], "Ada")
	for _, id := range ids[1:] {
		batch.Queue(in(table, "INSERT INTO line_{} (id, order_id, name) VALUES ($1, $2, $3)"), id, ids[0], "lamp")
	}
	return 1 + few, c.db.SendBatch(ctx, &batch).Close()
}

// takeTurn inserts with all clients at once and returns rows a second.
func takeTurn(b *testing.B, w workload, c contender, table string) float64 {
	b.Helper()
	var rows atomic.Int64
	var inserting sync.WaitGroup
	began := time.Now()
	for range w.clients {
		inserting.Go(func() {
			for time.Since(began) < turn {
				n, err := w.insert(c, b.Context(), table)
				if err != nil {
					b.Error(err)
					return
				}
				rows.Add(int64(n))
			}
		})
	}
	inserting.Wait()
	return float64(rows.Load()) / time.Since(began).Seconds()
}

// spread formats the median with its quartiles.
func spread(of []float64, format string) string {
	slices.Sort(of)
	at := func(part float64) float64 {
		place := part * float64(len(of)-1)
		low, above := math.Modf(place)
		return of[int(low)] + above*(of[int(math.Ceil(place))]-of[int(low)])
	}
	return fmt.Sprintf(format+" ("+format+" – "+format+")", at(0.5), at(0.25), at(0.75))
}

// workload is an insert that all contenders do in turns.
type workload struct {
	name    string
	clients int
	insert  func(c contender, ctx context.Context, table string) (int, error)
}

// BenchmarkInsert prints the rows of the table in docs/in-your-program.md: rows a second with keys of each kind, in
// b.N interleaved rounds. The page has its command.
func BenchmarkInsert(b *testing.B) {
	const clients = 8
	cluster := server.Private(b, nil) // default settings: each commit reaches the disk
	url := cluster.URL("postgres")
	if err := migrations.Up(b.Context(), url, migrations.Settings{}); err != nil {
		b.Fatal(err)
	}
	server.Exec(b, url, benchSQL)
	p := program.Serve(b, url, "bench", "--id-database", "pgflurry", "--id-auth", "trust")
	byDefault := contender{db: connections(b, fmt.Sprintf("%s&pool_max_conns=%d", url, clients))}
	ahead := contender{db: byDefault.db}
	ahead.ids = pool(b, client.Pgx(connections(b, server.In(b, p.URL, "pgflurry"))), client.Settings{})

	tables := []string{"sequence", "snowflake", "ahead"}
	order := []int{0, 1, 2}
	for _, w := range []workload{
		{"one row", 1, contender.one},
		{"one row", clients, contender.one},
		{"an order of 11 rows", 1, contender.order},
		{"an order of 11 rows", clients, contender.order},
		{"1,000 rows", 1, contender.thousand},
		{"1,000 rows", clients, contender.thousand},
	} {
		var rates, ratios [3][]float64
		for range b.N {
			rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			var rate [3]float64
			for _, which := range order {
				c := byDefault
				if tables[which] == "ahead" {
					c = ahead
				}
				server.Exec(b, url, "TRUNCATE order_"+tables[which]+", line_"+tables[which])
				server.Exec(b, url, "CHECKPOINT")
				rate[which] = takeTurn(b, w, c, tables[which])
			}
			for which := range tables {
				rates[which] = append(rates[which], rate[which])
				ratios[which] = append(ratios[which], rate[which]/rate[0])
			}
		}
		fmt.Printf("| %s | %d | %s |", w.name, w.clients, spread(rates[0], "%.0f"))
		for _, which := range []int{1, 2} {
			fmt.Printf(" %s | %s |", spread(rates[which], "%.0f"), spread(ratios[which], "%.2f"))
		}
		fmt.Println()
	}
}
