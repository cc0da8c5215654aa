//go:build full

package upgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// patience limits each wait. On an idle machine everything happens at once.
const patience = time.Minute

// load is all clients.
type load struct {
	clients []*client
	mu      sync.Mutex
	more    *sync.Cond // signals that a client has done something
	failed  error
}

// client is one program that draws and writes. It connects to the first of its hosts that serves it. It connects again
// when a proxy ends its session.
type client struct {
	load        *load
	url         string
	steps, sent int // things it did, and ends of its sessions by a proxy; under load.mu
	ids         []int64
	writes      int // acknowledged ones
}

// startLoad starts a client for each URL. end ends them, and returns their errors.
func startLoad(t *testing.T, urls []string) (l *load, end func() error) {
	t.Helper()
	l = &load{}
	l.more = sync.NewCond(&l.mu)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, url := range urls {
		c := &client{load: l, url: url}
		l.clients = append(l.clients, c)
		running.Go(func() {
			if err := c.run(ctx); err != nil {
				l.fail(err)
			}
		})
	}
	end = func() error {
		cancel()
		running.Wait()
		return l.failed
	}
	t.Cleanup(func() { _ = end() })
	return l, end
}

func (l *load) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = errors.Join(l.failed, err)
	l.more.Broadcast()
}

// run is the life of a client: one session after the other.
func (c *client) run(ctx context.Context) error {
	for ctx.Err() == nil {
		connecting, cancel := context.WithTimeout(context.Background(), patience)
		conn, err := pgx.Connect(connecting, c.url)
		cancel()
		if err != nil {
			return fmt.Errorf("connecting: %w", err)
		}
		err = c.session(ctx, conn)
		_ = conn.Close(context.Background())
		if err != nil {
			return err
		}
	}
	return nil
}

// session goes on until ctx ends or the proxy ends the session with 57P01.
func (c *client) session(ctx context.Context, conn *pgx.Conn) error {
	for n := 0; ctx.Err() == nil; n++ {
		doing, err := c.step(conn, n)
		var said *pgconn.PgError
		farewell := errors.As(err, &said) && said.Code == "57P01" && said.Severity == "FATAL"
		c.load.did(c, farewell)
		switch {
		case farewell:
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", doing, err)
		}
	}
	return nil
}

// did counts a thing that a client did, or the end of its session by a proxy.
func (l *load) did(c *client, farewell bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.steps++; farewell {
		c.sent++
	}
	l.more.Broadcast()
}

const (
	draw   = "SELECT next_snowflake()"
	insert = "INSERT INTO item DEFAULT VALUES RETURNING id"
)

// step does one of the things that clients do.
func (c *client) step(conn *pgx.Conn, n int) (doing string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	switch n % 4 {
	case 0:
		return "drawing", c.get(ctx, conn, draw, pgx.QueryExecModeSimpleProtocol)
	case 1:
		return "drawing by a prepared statement", c.get(ctx, conn, draw, pgx.QueryExecModeCacheStatement)
	case 2:
		if err = c.get(ctx, conn, insert, pgx.QueryExecModeCacheStatement); err == nil {
			c.writes++
		}
		return "writing", err
	default:
		return "in a transaction", c.transaction(ctx, conn)
	}
}

// asked is a session, or a transaction in it.
type asked interface {
	QueryRow(ctx context.Context, statement string, args ...any) pgx.Row
}

func (c *client) get(ctx context.Context, from asked, statement string, mode pgx.QueryExecMode) error {
	var id int64
	err := from.QueryRow(ctx, statement, mode).Scan(&id)
	if err == nil {
		c.ids = append(c.ids, id)
	}
	return err
}

// transaction draws and writes in a transaction. Once the transaction has begun, the proxy must not end the session. If
// it does, the returned error does not count as an allowed end.
func (c *client) transaction(ctx context.Context, conn *pgx.Conn) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	for _, statement := range []string{draw, insert} {
		if err := c.get(ctx, tx, statement, pgx.QueryExecModeCacheStatement); err != nil {
			return fmt.Errorf("it was not let finish: %v", err)
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("it was not let commit: %v", err)
	}
	c.writes++
	return nil
}

// sent returns for each client how often a proxy has ended its session.
func (l *load) sent() (each []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.clients {
		each = append(each, c.sent)
	}
	return each
}

// goesOn waits until each client has done this number of further things.
func (l *load) goesOn(t *testing.T, steps int) {
	t.Helper()
	late := time.AfterFunc(patience, func() { l.fail(errors.New("a client hangs")) })
	defer late.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.clients {
		for enough := c.steps + steps; c.steps < enough && l.failed == nil; {
			l.more.Wait()
		}
	}
	if l.failed != nil {
		t.Fatal(l.failed)
	}
}

// compare expects each ID only once. The table must have each acknowledged write, and no other. It returns the number
// of IDs.
func (l *load) compare(t *testing.T, conn *pgx.Conn) int {
	t.Helper()
	var got []int64
	writes := 0
	for _, c := range l.clients {
		got = append(got, c.ids...)
		writes += c.writes
	}
	slices.Sort(got)
	all := slices.Compact(slices.Clone(got))
	if len(all) != len(got) {
		t.Errorf("of %d IDs only %d are different", len(got), len(all))
	}
	var rows, unheard int
	const compared = `SELECT count(*), count(*) FILTER (WHERE got.id IS NULL)
		FROM item LEFT JOIN unnest($1::bigint[]) AS got (id) USING (id)`
	if err := conn.QueryRow(context.Background(), compared, all).Scan(&rows, &unheard); err != nil {
		t.Fatal(err)
	}
	if rows != writes || unheard > 0 {
		t.Errorf("%d writes were acknowledged, %d rows are there, %d of them with an ID that no client got", writes,
			rows, unheard)
	}
	return len(all)
}
