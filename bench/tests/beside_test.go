package tests

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

const (
	atOnce = 1000   // IDs of a draw: a part of a tick
	each   = 20_000 // IDs of a source: several ticks of a worker
)

// A table is filled by an old generator and by pgflurry at the same time. Its key compares every ID with all others.
type table struct {
	t     *testing.T
	url   string
	drawn map[string]*atomic.Int64 // IDs by source
}

func newTable(t *testing.T, url string, sources ...string) *table {
	t.Helper()
	server.Exec(t, url, "CREATE TABLE item (id bigint PRIMARY KEY DEFAULT next_snowflake(), source text NOT NULL)")
	b := &table{t, url, make(map[string]*atomic.Int64)}
	for _, s := range sources {
		b.drawn[s] = new(atomic.Int64)
	}
	return b
}

// filler returns a function that draws IDs and inserts them.
func (b *table) filler(source string, draw func(n int) ([]int64, error)) func() error {
	conn := server.Connect(b.t, b.url)
	return func() error {
		ids, err := draw(atOnce)
		if err != nil {
			return err
		}
		rows := pgx.CopyFromSlice(len(ids), func(i int) ([]any, error) { return []any{ids[i], source}, nil })
		n, err := conn.CopyFrom(b.t.Context(), pgx.Identifier{"item"}, []string{"id", "source"}, rows)
		b.drawn[source].Add(n)
		return err
	}
}

// through draws over a connection, and inserts over another.
func (b *table) through(source, url string) func() error {
	conn := server.Connect(b.t, url)
	return b.filler(source, func(n int) ([]int64, error) {
		return list(b.t.Context(), conn, "SELECT * FROM next_snowflakes($1)", n)
	})
}

// byDefault lets the table draw.
func (b *table) byDefault(source string) func() error {
	conn := server.Connect(b.t, b.url)
	return func() error {
		done, err := conn.Exec(b.t.Context(), "INSERT INTO item (source) SELECT $1 FROM generate_series(1, $2)",
			source, atOnce)
		b.drawn[source].Add(done.RowsAffected())
		return err
	}
}

// fill lets old generators fill the table as long as the new ones do, and a little longer at both ends.
func (b *table) fill(old, young []func() error) {
	b.t.Helper()
	var olds, fills, youngs sync.WaitGroup
	fills.Add(len(old))
	done := make(chan struct{})
	for _, fill := range old {
		olds.Go(func() {
			err := fill()
			fills.Done()
			for last := false; err == nil && !last; err = fill() {
				select {
				case <-done:
					last = true
				default:
				}
			}
			if err != nil {
				b.t.Error(err)
			}
		})
	}
	fills.Wait()
	for _, fill := range young {
		youngs.Go(func() {
			for range each / atOnce {
				if err := fill(); err != nil {
					b.t.Error(err)
					return
				}
			}
		})
	}
	youngs.Wait()
	close(done)
	olds.Wait()
}

// list reads n IDs.
func list(ctx context.Context, conn *pgx.Conn, query string, n int) ([]int64, error) {
	rows, _ := conn.Query(ctx, query, n)
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

func TestNoIDComesTwiceWhileAnOldGeneratorAndPgflurryFillOneTable(t *testing.T) {
	t.Parallel()
	for _, o := range origins {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			url := server.Database(t)
			processes := o.processes(t, url)
			server.Migrate(t, url, o.settings(processes...))
			const function, proxy, ids = "function", "proxy", "ID database"
			sources := []string{function, proxy, ids}
			for _, p := range processes {
				sources = append(sources, fmt.Sprint("old ", p.worker))
			}
			b := newTable(t, url, sources...)
			var old []func() error
			for _, p := range processes {
				old = append(old, b.filler(fmt.Sprint("old ", p.worker), p.draw))
			}
			through := program.Serve(t, url, "beside", "--id-database", "ids", "--id-auth", "trust")
			conn := server.Connect(t, url)
			// A new function is a second ahead of the clock, where the others are not.
			server.Do(t, conn, "SELECT next_snowflake()")
			server.Eventually(t, conn,
				"snowflake_time((SELECT last_value FROM pgflurry.lane)) < clock_timestamp()")
			begun := time.Now()
			b.fill(old, []func() error{
				b.byDefault(function), b.byDefault(function), b.through(proxy, through.URL),
				b.through(proxy, through.URL), b.through(ids, server.In(t, through.URL, "ids")),
			})
			b.isReadRight(conn, begun, processes)
		})
	}
}

// isReadRight checks that each ID has the worker and about the time of its source.
func (b *table) isReadRight(conn *pgx.Conn, begun time.Time, old []process) {
	b.t.Helper()
	workers := make(map[string]int)
	for _, p := range old {
		workers[fmt.Sprint("old ", p.worker)] = p.worker
	}
	workers["function"] = server.Value[int](b.t, conn, "SELECT function_worker FROM pgflurry.namespace")
	const leased = "SELECT worker FROM pgflurry.worker WHERE kind = 'proxy' AND term > 0"
	workers["proxy"] = server.Value[int](b.t, conn, leased)
	workers["ID database"] = workers["proxy"]
	var total int64
	for source, drawn := range b.drawn {
		// A proxy's clock is behind by a part of a round trip, and a function may be ahead of the clock.
		const right = `SELECT count(*) FROM item WHERE source = $1 AND snowflake_worker(id) = $2
			AND snowflake_time(id) BETWEEN $3::timestamptz - interval '10 s' AND clock_timestamp() + interval '10 s'`
		if n := server.Value[int64](b.t, conn, right, source, workers[source], begun); n != drawn.Load() || n == 0 {
			b.t.Errorf("of %d IDs of the source %q only %d have its worker %d and its time",
				drawn.Load(), source, n, workers[source])
		}
		total += drawn.Load()
	}
	b.t.Logf("%d IDs were compared", total)
}
