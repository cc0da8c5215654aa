package database

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/fault"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

func TestTheFunctionGivesDenseNumbersFromTheRow(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.MigratedWith(t, allNames))
	row := server.Value[string](t, conn, "SELECT (biz_tag, max_id, step)::text FROM pgflurry.segment")
	if row != "(leaf-segment-test,1,100)" {
		t.Errorf("the starting row is %s", row)
	}
	var all []int64
	for _, query := range []string{
		"SELECT next_segment('leaf-segment-test')", "SELECT pgflurry.next_segment('leaf-segment-test')",
		"SELECT * FROM next_segments('leaf-segment-test', 3)",
		"SELECT public.next_segment('leaf-segment-test') FROM generate_series(1, 2)",
		"SELECT * FROM pgflurry.next_segments('leaf-segment-test', 1)",
	} {
		all = append(all, numbers(t, conn, query)...)
	}
	if want := []int64{1, 2, 3, 4, 5, 6, 7, 8}; !slices.Equal(all, want) {
		t.Errorf("drew %v, want %v", all, want)
	}
	if n := len(numbers(t, conn, "SELECT * FROM next_segments('leaf-segment-test', 10000)")); n != 10000 {
		t.Errorf("next_segments gave %d numbers", n)
	}
	if next := server.Value[int64](t, conn, "SELECT max_id FROM pgflurry.segment"); next != 10009 {
		t.Errorf("the row's next number is %d", next)
	}
}

func TestBadInputToASegmentIsRefusedWithAHintAndChangesNothing(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	tag(t, url, "order", 2000)
	conn := server.Connect(t, url)
	server.Do(t, conn, `INSERT INTO pgflurry.segment (biz_tag, max_id)
		VALUES ('full', 9223372036854775807), ('nearly', 9223372036854775805)`)
	before := server.Value[string](t, conn,
		"SELECT string_agg(s::text, ',' ORDER BY biz_tag) FROM pgflurry.segment AS s")
	for statement, state := range map[string]string{
		"SELECT pgflurry.next_segment(NULL)":                                                      "22023",
		"SELECT pgflurry.next_segment('')":                                                        "22023",
		"SELECT pgflurry.next_segment(repeat('x', 129))":                                          "22023",
		"SELECT pgflurry.next_segment('Order')":                                                   "42704",
		"SELECT pgflurry.next_segment('it''s')":                                                   "42704",
		"SELECT * FROM pgflurry.next_segments('order', NULL)":                                     "22023",
		"SELECT * FROM pgflurry.next_segments('order', 0)":                                        "22023",
		"SELECT * FROM pgflurry.next_segments('order', -1)":                                       "22023",
		"SELECT * FROM pgflurry.next_segments('order', 10001)":                                    "22023",
		"SELECT * FROM pgflurry.next_segments(NULL, 1)":                                           "22023",
		"SELECT * FROM pgflurry.next_segments('missing', 1)":                                      "42704",
		"SELECT pgflurry.next_segment('full')":                                                    "2200H",
		"SELECT * FROM pgflurry.next_segments('nearly', 3)":                                       "2200H",
		"UPDATE pgflurry.segment SET max_id = max_id - 1":                                         "23001",
		"SET session_replication_role = replica; UPDATE pgflurry.segment SET max_id = max_id - 1": "23001",
	} {
		if said := server.Refused(t, conn, state, statement); said.Hint == "" {
			t.Errorf("%s: no hint with %q", statement, said.Message)
		}
	}
	for _, statement := range []string{
		"INSERT INTO pgflurry.segment (biz_tag) VALUES ('')",
		"INSERT INTO pgflurry.segment (biz_tag) VALUES (repeat('x', 129))",
		"UPDATE pgflurry.segment SET step = 0", "UPDATE pgflurry.segment SET step = 1000001",
		"INSERT INTO pgflurry.segment (biz_tag, max_id) VALUES ('x', 0)",
		"UPDATE pgflurry.segment SET description = repeat('x', 257)",
	} {
		server.Refused(t, conn, "23514", statement)
	}
	server.Do(t, conn, "SET default_transaction_read_only = on")
	server.Refused(t, conn, "25006", "SELECT pgflurry.next_segment('order')")
	after := server.Value[string](t, conn,
		"SELECT string_agg(s::text, ',' ORDER BY biz_tag) FROM pgflurry.segment AS s")
	if after != before {
		t.Errorf("the table was\n%s\nand is\n%s", before, after)
	}
	server.Do(t, conn, "SET default_transaction_read_only = off")
	said := server.Refused(t, conn, "42704", "SELECT pgflurry.next_segment('it''s')")
	if !strings.Contains(said.Hint, "VALUES ('it''s')") {
		t.Errorf("the hint does not say how to add the tag: %s", said.Hint)
	}
	got := numbers(t, conn, "SELECT * FROM pgflurry.next_segments('nearly', 2)")
	if !slices.Equal(got, []int64{9223372036854775805, 9223372036854775806}) {
		t.Errorf("the last numbers are %v", got)
	}
}

func TestADrawIsPartOfItsTransaction(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	tag(t, url, "order", 2000)
	one, other := server.Connect(t, url), server.Connect(t, url)
	server.Do(t, one, "BEGIN")
	if n := server.Value[int64](t, one, "SELECT pgflurry.next_segment('order')"); n != 1 {
		t.Errorf("the first number is %d", n)
	}
	server.Do(t, other, "SET lock_timeout = '50 ms'")
	server.Refused(t, other, "55P03", "SELECT pgflurry.next_segment('order')") // the open transaction holds the lock
	server.Do(t, one, "ROLLBACK")
	if n := server.Value[int64](t, other, "SELECT pgflurry.next_segment('order')"); n != 1 {
		t.Errorf("the number that was rolled back did not come again, but %d", n)
	}
}

func TestTransactionsThatDrawFromTwoTagsInOppositeOrderAreADeadlockOfWhichOneEnds(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	tag(t, url, "order", 2000)
	tag(t, url, "item", 2000)
	ctx, ended := server.Within(t), make(chan error, 2)
	sessions := map[string]*pgx.Conn{"order": server.Connect(t, url), "item": server.Connect(t, url)}
	for name, conn := range sessions {
		server.Do(t, conn, "SET deadlock_timeout = '10 ms'; BEGIN; SELECT pgflurry.next_segment('"+name+"')")
	}
	for name, conn := range sessions {
		other := map[string]string{"order": "item", "item": "order"}[name]
		go func() {
			_, err := conn.Exec(ctx, "SELECT pgflurry.next_segment('"+other+"')")
			if err != nil {
				_, _ = conn.Exec(ctx, "ROLLBACK")
			}
			ended <- err
		}()
	}
	first, second := <-ended, <-ended
	said := new(pgconn.PgError)
	if !errors.As(errors.Join(first, second), &said) || said.Code != "40P01" || first != nil && second != nil {
		t.Errorf("errors %v and %v, expected one with 40P01", first, second)
	}
}

func TestTheFunctionIsADefaultAndFailsWhereASnapshotIsTooOld(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	tag(t, url, "order", 2000)
	conn := server.Connect(t, url)
	server.Do(t, conn, "CREATE TABLE orders "+
		"(id bigint DEFAULT pgflurry.next_segment('order') PRIMARY KEY, what text); "+
		"INSERT INTO orders (what) SELECT 'x' FROM generate_series(1, 5)")
	if ids := numbers(t, conn, "SELECT id FROM orders ORDER BY id"); !slices.Equal(ids, []int64{1, 2, 3, 4, 5}) {
		t.Errorf("the rows have %v", ids)
	}
	server.Do(t, conn, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
	numbers(t, server.Connect(t, url), "SELECT pgflurry.next_segment('order')")
	server.Refused(t, conn, "40001", "SELECT pgflurry.next_segment('order')")
}

// Each session commits some of its transactions and rolls others back. The committed numbers are exactly 1, 2, 3 and so
// on.
func TestCommittedDrawsOfManySessionsAreDenseAndNoneComesTwice(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	tag(t, url, "order", 2000)
	var mu sync.Mutex
	var committed []int64
	var sessions sync.WaitGroup
	for s := range 8 {
		conn := server.Connect(t, url)
		ctx := server.Within(t)
		sessions.Go(func() {
			for i := range 60 {
				tx, err := conn.Begin(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				drawn, err := tryNumbers(ctx, conn, "SELECT * FROM pgflurry.next_segments('order', $1)", 1+(i*7+s)%5)
				if err != nil {
					t.Error(err)
					return
				}
				if (i+s)%3 == 0 {
					err = tx.Rollback(ctx)
				} else if err = tx.Commit(ctx); err == nil {
					mu.Lock()
					committed = append(committed, drawn...)
					mu.Unlock()
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	sessions.Wait()
	slices.Sort(committed)
	for i, n := range committed {
		if n != int64(i+1) {
			t.Fatalf("number %d stands where %d should be, of %d", n, i+1, len(committed))
		}
	}
	if len(committed) < 8*40 {
		t.Errorf("only %d numbers were committed", len(committed))
	}
}

func TestAPlainRoleNeedsOnlyExecuteAndCanDamageNothing(t *testing.T) {
	t.Parallel()
	url := server.MigratedWith(t, allNames)
	tag(t, url, "order", 2000)
	conn := server.Connect(t, server.Role(t, url, "segment_user"))
	server.Do(t, conn, "SELECT next_segment('order'), pgflurry.next_segment('order'); "+
		"SELECT * FROM next_segments('order', 2); SELECT * FROM pgflurry.next_segments('order', 2)")
	for _, statement := range []string{
		"SELECT * FROM pgflurry.segment", "UPDATE pgflurry.segment SET step = 1", "DELETE FROM pgflurry.segment",
		"TRUNCATE pgflurry.segment", "INSERT INTO pgflurry.segment (biz_tag) VALUES ('mine')",
		"SELECT * FROM pgflurry.segment FOR UPDATE",
		"BEGIN; LOCK TABLE pgflurry.segment IN ACCESS SHARE MODE",
		"SELECT pgflurry.take_segment('x', 'order', 5)", "CREATE TABLE pgflurry.mine ()",
		"CREATE FUNCTION pgflurry.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
		"CREATE OR REPLACE FUNCTION pgflurry.next_segment(tag text) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'",
		"DROP FUNCTION public.next_segment(text)",
	} {
		server.Refused(t, conn, "42501", statement)
	}
	server.Exec(t, url, "REVOKE EXECUTE ON FUNCTION pgflurry.next_segment(text) FROM PUBLIC")
	if err := migrations.Up(server.Within(t), url, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	server.Refused(t, conn, "42501", "SELECT next_segment('order')")
	server.Refused(t, conn, "42501", "SELECT pgflurry.next_segment('order')")
}

func TestAHostileSearchPathChangesNoDrawOfATag(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.MigratedWith(t, allNames))
	for _, path := range server.Hostile(t, conn) {
		server.Do(t, conn, "SET search_path = "+path)
		server.Do(t, conn, "SELECT public.next_segment('leaf-segment-test'), "+
			"pgflurry.next_segment('leaf-segment-test'); SELECT * FROM public.next_segments('leaf-segment-test', 5)")
	}
}

func TestDownRefusesWhileThereAreTagsWhoseNumbersWouldBeginAnew(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	tag(t, url, "order", 2000)
	_, err := migrations.Down(server.Within(t), url, false)
	if err == nil || !strings.Contains(err.Error(), "segment (1)") || fault.HintOf(err) == "" {
		t.Fatalf("down with a tag: %v", err)
	}
	server.Exec(t, url, "DELETE FROM pgflurry.segment WHERE biz_tag = 'order'")
	for range 2 {
		if _, err := migrations.Down(server.Within(t), url, false); err != nil {
			t.Fatal(err)
		}
		if err := migrations.Up(server.Within(t), url, migrations.Settings{}); err != nil {
			t.Fatal(err)
		}
	}
	conn := server.Connect(t, url)
	if n := server.Value[int64](t, conn, "SELECT pgflurry.next_segment('leaf-segment-test')"); n != 1 {
		t.Errorf("after down and up the first number is %d", n)
	}
}
