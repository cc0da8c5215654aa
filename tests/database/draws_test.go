package database

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// at runs do in n sessions at once. The sessions take the URLs in turn.
func at(t *testing.T, sessions int, do func(ctx context.Context, conn *pgx.Conn) error, urls ...string) {
	t.Helper()
	var all sync.WaitGroup
	for i := range sessions {
		conn, ctx := server.Connect(t, urls[i%len(urls)]), server.Within(t)
		all.Go(func() {
			if err := do(ctx, conn); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// committed draws with a query in transactions and rolls every third one back. It returns what the others drew.
func committed(t *testing.T, query string, sessions, transactions int, urls ...string) []string {
	t.Helper()
	var mu sync.Mutex
	var drawn []string
	at(t, sessions, func(ctx context.Context, conn *pgx.Conn) error {
		for i := range transactions {
			tx, err := conn.Begin(ctx)
			if err != nil {
				return err
			}
			var one, two string
			if err := errors.Join(tx.QueryRow(ctx, query).Scan(&one), tx.QueryRow(ctx, query).Scan(&two)); err != nil {
				return err
			}
			if i%3 == 2 {
				if err := tx.Rollback(ctx); err != nil {
					return err
				}
				continue
			}
			if err := tx.Commit(ctx); err != nil {
				return err
			}
			mu.Lock()
			drawn = append(drawn, one, two)
			mu.Unlock()
		}
		return nil
	}, urls...)
	return drawn
}

// twice returns the entries that a list has more than once.
func twice(list []string) (again []string) {
	seen := make(map[string]bool)
	for _, s := range list {
		if seen[s] {
			again = append(again, s)
		}
		seen[s] = true
	}
	return again
}

func TestNoTwoCommittedDrawsAreEqualThroughTheProxyAndDirectlyAtOnce(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	server.Exec(t, url, `INSERT INTO pgflurry.auto_increment (name, increment, "offset") VALUES ('order', 2, 2);
		SELECT pgflurry.create_offset_sequences('ticket', 2)`)
	proxy := program.Serve(t, url, "ways")
	for name, way := range map[string]struct {
		query string
		dense int64 // distance of committed numbers without gaps; 0: gaps, or no numbers
	}{
		"auto_increment":   {"SELECT pgflurry.next_auto_increment('order')::text", 2},
		"offset sequences": {"SELECT nextval('ticket_1')::text", 0},
		"replace":          {"SELECT pgflurry.next_replace_id('order')::text", 0},
		"counter":          {"SELECT pgflurry.incr('order')::text", 1},
		"counter by 5":     {"SELECT pgflurry.incrby('five', 5)::text", 5},
		"uuid 4":           {"SELECT pgflurry.uuidv4()::text", 0},
		"uuid 7":           {"SELECT pgflurry.uuidv7()::text", 0},
		"snowflake":        {"SELECT next_snowflake()::text", 0},
		"snowflake_text":   {"SELECT snowflake_text(next_snowflake(), 25)", 0},
		"segment":          {"SELECT pgflurry.next_segment('leaf-segment-test')::text", 0},
		"token":            {"SELECT pgflurry.issue_token('1 hour')::text", 0},
		"fencing token":    {"SELECT pgflurry.try_lock(gen_random_uuid()::text, 'me', '1 hour')::text", 0},
	} {
		t.Run(name, func(t *testing.T) {
			drawn := committed(t, way.query, 6, 20, url, proxy.URL)
			if again := twice(drawn); len(drawn) != 6*14*2 || len(again) > 0 {
				t.Errorf("%d draws were committed, want %d; twice came %q", len(drawn), 6*14*2, again)
			}
			if way.dense == 0 {
				return
			}
			for i := range drawn {
				if want := fmt.Sprint(way.dense * int64(i+1)); !slices.Contains(drawn, want) {
					t.Fatalf("%s is missing: what is rolled back must come again", want)
				}
			}
		})
	}
}
