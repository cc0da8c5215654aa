//go:build full

package database

import (
	"context"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/server"
)

func TestTwoServersWithAnOffsetEachDoNotMeetAndAThirdWithTheOldStepDoes(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, `INSERT INTO pgflurry.auto_increment (name, increment, "offset") VALUES ('one', 2, 1),
		('two', 2, 2), ('three', 2, 3)`)
	draw := func(name string) []int64 {
		return server.Values[int64](t, conn, "SELECT pgflurry.next_auto_increment($1) FROM generate_series(1, 5)", name)
	}
	one, two, three := draw("one"), draw("two"), draw("three")
	if !slices.Equal(one, []int64{1, 3, 5, 7, 9}) || !slices.Equal(two, []int64{2, 4, 6, 8, 10}) {
		t.Errorf("two servers draw %v and %v", one, two)
	}
	if !slices.Equal(three, []int64{3, 5, 7, 9, 11}) {
		t.Errorf("the third draws %v; with step 2 it repeats what the first has drawn", three)
	}
}

func TestAChangedIncrementGoesOnAboveTheLastNumberInTheNewSeries(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, `INSERT INTO pgflurry.auto_increment (name, increment, "offset", last) VALUES ('a', 2, 1, 9),
		('b', 65535, 65535, 0), ('full', 2, 1, 9223372036854775806)`)
	server.Do(t, conn, `UPDATE pgflurry.auto_increment SET increment = 10, "offset" = 3 WHERE name = 'a'`)
	next := server.Values[int64](t, conn, "SELECT pgflurry.next_auto_increment('a') FROM generate_series(1, 2)")
	if !slices.Equal(next, []int64{13, 23}) {
		t.Errorf("after 9, with 3, 13, 23 …, come %v", next)
	}
	next = server.Values[int64](t, conn, "SELECT pgflurry.next_auto_increment('b') FROM generate_series(1, 2)")
	if !slices.Equal(next, []int64{65535, 131070}) {
		t.Errorf("the largest offset and increment give %v", next)
	}
	server.Says(t, server.Refused(t, conn, "2200H", "SELECT pgflurry.next_auto_increment('full')"),
		"'full' has come to the end of bigint", "Use another name")
	server.Says(t, server.Refused(t, conn, "42704", "SELECT pgflurry.next_auto_increment('none')"),
		"there is no name 'none'", "INSERT INTO pgflurry.auto_increment")
	server.Says(t, server.Refused(t, conn, "23001", "UPDATE pgflurry.auto_increment SET last = 22 WHERE name = 'a'"),
		"last 23 to 22", "delete the row")
	for _, row := range []string{
		"('x', 0, 1)", "('x', 65536, 1)", "('x', 1, 0)", "('x', 1, 65536)", "('', 1, 1)", "(repeat('x', 256), 1, 1)",
	} {
		server.Refused(t, conn, "23514", `INSERT INTO pgflurry.auto_increment (name, increment, "offset") VALUES `+row)
	}
}

// replace is the statement of next_replace_id(), on a table without the unique key.
const replace = `WITH gone AS (DELETE FROM keyless WHERE seq_name = 'x' RETURNING seq_id)
	INSERT INTO keyless (seq_name) SELECT 'x' FROM (SELECT count(*) FROM gone) AS done RETURNING seq_id`

func TestWithoutTheUniqueKeyTwoFirstDrawsLeaveTwoRowsOfOneName(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	a, b, watch := server.Connect(t, url), server.Connect(t, url), server.Connect(t, url)
	server.Do(t, a, "CREATE TABLE keyless (seq_id bigint GENERATED ALWAYS AS IDENTITY, seq_name text)")
	server.Do(t, a, "BEGIN;"+replace)
	server.Do(t, b, "BEGIN;"+replace)
	server.Do(t, a, "COMMIT")
	server.Do(t, b, "COMMIT")
	if rows := server.Value[int](t, watch, "SELECT count(*) FROM keyless"); rows != 2 {
		t.Errorf("without a unique key there are %d rows, expected 2", rows)
	}

	server.Do(t, a, "BEGIN; SELECT pgflurry.next_replace_id('x')")
	second, ctx := make(chan error, 1), server.Within(t)
	go func() {
		_, err := b.Exec(ctx, "SELECT pgflurry.next_replace_id('x')")
		second <- err
	}()
	server.Blocked(t, watch, 1)
	server.Do(t, a, "COMMIT")
	if err := <-second; err != nil {
		t.Error(err)
	}
	row := server.Value[string](t, watch,
		"SELECT string_agg(seq_name || ' ' || seq_id, ',') FROM pgflurry.replace_sequence")
	if row == "" || row[:2] != "x " || len(row) > 4 {
		t.Errorf("with it the table holds %q, expected one row of x", row)
	}
}

func TestAReplaceIDIsNotRepeatedAfterARollbackAndIsRefusedWhereTheSnapshotIsOld(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	a, b := server.Connect(t, url), server.Connect(t, url)
	server.Do(t, a, "BEGIN; SELECT pgflurry.next_replace_id('x'); ROLLBACK")
	if id := server.Value[int64](t, a, "SELECT pgflurry.next_replace_id('x')"); id != 2 {
		t.Errorf("after a rollback comes %d, want 2", id)
	}
	server.Do(t, a, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM pgflurry.replace_sequence")
	server.Do(t, b, "SELECT pgflurry.next_replace_id('x'), pgflurry.next_replace_id('new')")
	server.Refused(t, a, "40001", "SELECT pgflurry.next_replace_id('x')")
	server.Do(t, a, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM pgflurry.replace_sequence")
	server.Do(t, b, "SELECT pgflurry.next_replace_id('newer')")
	server.Says(t, server.Refused(t, a, "40001", "SELECT pgflurry.next_replace_id('newer')"),
		"another transaction has drawn", "Retry")
}

func TestACounterIsTransactionalAndItsKeyIsLockedUntilTheEnd(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	a, b, watch := server.Connect(t, url), server.Connect(t, url), server.Connect(t, url)
	server.Do(t, a, "SELECT pgflurry.set_counter('k', 10)")
	server.Do(t, a, "BEGIN; SELECT pgflurry.incrby('k', 5)")
	if seen := server.Value[int64](t, watch, "SELECT pgflurry.get_counter('k')"); seen != 10 {
		t.Errorf("another session sees %d before the commit, want 10", seen)
	}
	next, ctx := make(chan int64, 1), server.Within(t)
	go func() {
		var n int64
		_ = b.QueryRow(ctx, "SELECT pgflurry.incr('k')").Scan(&n)
		next <- n
	}()
	server.Blocked(t, watch, 1)
	server.Do(t, a, "ROLLBACK")
	if n := <-next; n != 11 {
		t.Errorf("after the rollback incr gives %d, want 11: rolled back it never was, unlike in Redis", n)
	}
}

func TestManySessionsCountToTheirNumber(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	at(t, 8, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx,
			"DO $$ BEGIN FOR i IN 1 .. 100 LOOP PERFORM pgflurry.incr('k'); COMMIT; END LOOP; END $$")
		return err
	}, url)
	if n := server.Value[int64](t, server.Connect(t, url), "SELECT pgflurry.get_counter('k')"); n != 800 {
		t.Errorf("800 increments count to %d", n)
	}
}
