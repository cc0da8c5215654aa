package unique

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"pgflurry/tests/support/server"

	"github.com/jackc/pgx/v5/pgconn"
)

// The kinds of clients.
const (
	ofProxy    = iota // draws through a proxy, which answers from memory, or forwards without a lease
	ofFunction        // draws from the function
	ofKeys            // inserts rows with key DEFAULT next_snowflake(), through a proxy
	ofIDs             // draws in a proxy's ID database, which needs no PostgreSQL
	kinds
)

// statements has what the clients of a kind send. %d is a number of IDs up to its maximum.
var statements = [kinds][]struct {
	text string
	most int
}{
	ofProxy: {
		{"SELECT * FROM next_snowflakes(%d)", 10_000},
		{"SELECT * FROM next_snowflakes(%d)", 10_000},
		{"SELECT next_snowflake() FROM generate_series(1, %d)", 10_000},
		{"SELECT next_snowflake() -- %d", 1},
	},
	ofFunction: {
		{"SELECT next_snowflake() + 0 FROM generate_series(1, %d)", 3000},
		{"SELECT next_snowflake() -- %d", 1},
		{"BEGIN; SAVEPOINT s; SELECT next_snowflake() FROM generate_series(1, %d); ROLLBACK TO s; COMMIT", 1000},
		{
			"BEGIN; SET LOCAL statement_timeout = '5ms'; SELECT next_snowflake() FROM generate_series(1, %d); COMMIT",
			5000,
		},
		{"COPY (SELECT next_snowflake() FROM generate_series(1, %d)) TO STDOUT", 2000},
	},
	ofIDs: {
		{"SELECT * FROM next_snowflakes(%d)", 10_000},
		{"SELECT next_snowflake() FROM generate_series(1, %d)", 10_000},
		{"SELECT next_snowflake() -- %d", 1},
		{"BEGIN; SELECT next_snowflake(); SELECT * FROM next_snowflakes(%d); ROLLBACK", 1000},
	},
	ofKeys: {
		{"INSERT INTO item (n) SELECT generate_series(1, %d) RETURNING id", 300},
		{"INSERT INTO item DEFAULT VALUES RETURNING id -- %d", 1},
		{"BEGIN; INSERT INTO item (n) SELECT generate_series(1, %d) RETURNING id; ROLLBACK", 300},
	},
}

// clients starts all of them. Each node has two that draw, two in its ID database, and one that inserts. The function
// has five.
func (s *storm) clients(running *sync.WaitGroup) {
	start := func(kind, node int, url func() string) {
		running.Go(func() { s.client(kind, node, url, newDice()) })
	}
	for i, n := range s.nodes {
		url := func() string { return *n.url.Load() }
		start(ofProxy, i, url)
		start(ofProxy, i, url)
		start(ofKeys, i, url)
		for range 2 {
			start(ofIDs, i, func() string { return idURL(url()) })
		}
	}
	for range 5 {
		start(ofFunction, 0, func() string { return s.through })
	}
}

// client draws until the storm is over. It connects again whenever its connection is gone.
func (s *storm) client(kind, node int, url func() string, dice *rand.Rand) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-s.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	ids := make([]int64, 0, 10_000)
	for ctx.Err() == nil {
		conn, err := open(ctx, url())
		if err != nil {
			s.broken.Add(1)
			if kind == ofIDs {
				s.sawInside(node, "a login", err)
			}
			server.Pause(ctx, 20*time.Millisecond) // the server is away; leave the processor to others
			continue
		}
		for ctx.Err() == nil && !conn.IsClosed() {
			if kind == ofIDs {
				ids, err = s.drawInside(ctx, node, conn, dice, ids[:0])
			} else {
				ids, err = drawMany(ctx, conn, dice, kind, ids[:0])
			}
			if err != nil {
				s.broken.Add(1)
			}
			s.record(kind, ids)
			if s.breath > 0 {
				server.Pause(ctx, time.Duration(dice.Int64N(int64(s.breath))))
			}
		}
		conn.Close(context.WithoutCancel(ctx))
	}
}

func open(ctx context.Context, url string) (*pgconn.PgConn, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return pgconn.Connect(ctx, url)
}

// drawMany runs one statement. It returns all IDs that came, also those before an error.
func drawMany(ctx context.Context, conn *pgconn.PgConn, dice *rand.Rand, kind int, ids []int64) ([]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	of := statements[kind][dice.IntN(len(statements[kind]))]
	text := fmt.Sprintf(of.text, 1+dice.IntN(of.most))
	if text[:4] == "COPY" {
		lines := collected{ids: ids}
		_, err := conn.CopyTo(ctx, &lines, text)
		return lines.ids, err
	}
	results := conn.Exec(ctx, text)
	for results.NextResult() {
		for result := results.ResultReader(); result.NextRow(); {
			id, err := strconv.ParseInt(string(result.Values()[0]), 10, 64)
			if err != nil {
				return ids, err
			}
			ids = append(ids, id)
		}
	}
	err := results.Close()
	if err != nil && !conn.IsClosed() && conn.TxStatus() != 'I' {
		_, _ = conn.Exec(ctx, "ROLLBACK").ReadAll() // best effort: the connection may be gone
	}
	return ids, err
}

// collected takes the lines of a COPY. An incomplete line waits for the rest.
type collected struct {
	ids  []int64
	part int64
}

func (c *collected) Write(data []byte) (int, error) {
	for _, b := range data {
		if b == '\n' {
			c.ids, c.part = append(c.ids, c.part), 0
		} else {
			c.part = c.part*10 + int64(b-'0')
		}
	}
	return len(data), nil
}

func (s *storm) record(kind int, ids []int64) {
	if err := s.all.Add(ids...); err != nil {
		select {
		case s.twice <- fmt.Errorf("a client of kind %d: %w", kind, err):
		default: // the first report is enough
		}
	}
	s.noteTicks(ids)
	s.ids.Add(int64(len(ids)))
	s.byKind[kind].Add(int64(len(ids)))
}
