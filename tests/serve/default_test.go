package serve

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// Clients fill a table whose key is DEFAULT next_snowflake() through two proxies, in every way that SQL has. Others
// draw IDs from both meanwhile. There is one ID space with three workers.
func TestDefaultKeysAndDrawnIDsOfTwoProxiesNeverRepeat(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	server.Exec(t, direct, `CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY, n int)`)
	proxies := []*program.Proxy{program.Serve(t, direct, "one"), program.Serve(t, direct, "two")}

	var mu sync.Mutex
	all := newSeen(t)
	note := func(source string, ids []int64) {
		mu.Lock()
		defer mu.Unlock()
		all.add(source, ids...)
	}
	var clients sync.WaitGroup
	for i, p := range proxies {
		for way, draw := range ways {
			source := fmt.Sprintf("%s through proxy %d", way, i+1)
			conn := server.Connect(t, p.URL)
			clients.Go(func() {
				ids, err := draw(conn)
				if err != nil {
					t.Errorf("%s: %v", source, err)
				}
				note(source, ids)
			})
		}
	}
	clients.Wait()

	// COPY and INSERT … SELECT return no keys. The table has them, and the returned ones.
	conn := server.Connect(t, direct)
	rows, _ := conn.Query(context.Background(), "SELECT id FROM item")
	inTable, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		t.Fatal(err)
	}
	returned := 0
	for _, id := range inTable {
		if source, known := all.ids[id]; known && strings.Contains(source, "RETURNING") {
			returned++
			continue
		}
		all.add("table", id)
	}
	if want := 2 * (200 + 200*5); returned != want {
		t.Errorf("%d keys that RETURNING gave are in the table; expected %d", returned, want)
	}
	if want := 2 * (200 + 200*5 + 3000 + 3000); len(inTable) != want {
		t.Errorf("the table has %d rows; expected %d", len(inTable), want)
	}
	workers := all.workers()
	if len(workers) != 3 || workers[databaseWorker] != len(inTable) {
		t.Errorf("IDs by worker: %v; expected %d of worker 0, the rest of two proxies", workers, len(inTable))
	}
}

// ways are what one client does. Each returns the IDs that the client got.
var ways = map[string]func(*pgx.Conn) ([]int64, error){
	"single draws": func(c *pgx.Conn) ([]int64, error) {
		return repeat(2000, func() ([]int64, error) { return list(c, "SELECT next_snowflake()") })
	},
	"batch draws": func(c *pgx.Conn) ([]int64, error) {
		return repeat(20, func() ([]int64, error) {
			return list(c, "SELECT next_snowflake() FROM generate_series(1, 500)")
		})
	},
	"INSERT RETURNING": func(c *pgx.Conn) ([]int64, error) {
		return repeat(200, func() ([]int64, error) { return list(c, "INSERT INTO item (n) VALUES (1) RETURNING id") })
	},
	"multi-row INSERT RETURNING": func(c *pgx.Conn) ([]int64, error) {
		return repeat(200, func() ([]int64, error) {
			return list(c, "INSERT INTO item (n) VALUES (1), (2), (3), (4), (5) RETURNING id")
		})
	},
	"COPY": func(c *pgx.Conn) ([]int64, error) {
		_, err := c.CopyFrom(context.Background(), pgx.Identifier{"item"}, []string{"n"},
			pgx.CopyFromSlice(3000, func(i int) ([]any, error) { return []any{i}, nil }))
		return nil, err
	},
	"INSERT SELECT": func(c *pgx.Conn) ([]int64, error) {
		_, err := c.Exec(context.Background(), "INSERT INTO item (n) SELECT n FROM generate_series(1, 3000) AS n")
		return nil, err
	},
}

func repeat(times int, f func() ([]int64, error)) (all []int64, err error) {
	for range times {
		ids, err := f()
		if err != nil {
			return all, err
		}
		all = append(all, ids...)
	}
	return all, nil
}

func list(c *pgx.Conn, sql string) ([]int64, error) {
	rows, _ := c.Query(context.Background(), sql)
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}
