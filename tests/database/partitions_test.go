//go:build full

package database

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"pgflurry/tests/support/server"
)

func TestTheStatementsOfThePageMakeTheNextPartitionsAndDropOldOnesWheneverTheyRun(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, tablesPage(t, partitionedTable)+"; SET timezone = 'Asia/Kolkata'")
	const partitions = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'event'::regclass"
	for range 2 {
		server.Do(t, conn, tablesPage(t, nextPartitions))
		if n := server.Value[int](t, conn, partitions); n != 4 {
			t.Errorf("there are %d partitions, expected 4", n)
		}
	}
	server.Do(t, conn, "INSERT INTO event (payload) SELECT 'x' FROM generate_series(1, 100)")
	if n := server.Value[int](t, conn, `SELECT count(*) FROM event WHERE tableoid =
		to_char(now() AT TIME ZONE 'UTC', '"event_"YYYY_MM')::regclass`); n != 100 {
		t.Errorf("%d of 100 rows are in the partition of this month", n)
	}

	server.Do(t, conn, `CREATE TABLE event_first PARTITION OF event FOR VALUES FROM (MINVALUE) TO (1);
		DO $$BEGIN FOR ago IN 11..14 LOOP
			EXECUTE format('CREATE TABLE %I PARTITION OF event FOR VALUES FROM (%s) TO (%s)',
				to_char(date_trunc('month', now() AT TIME ZONE 'UTC') - ago * interval '1 month', '"event_"YYYY_MM'),
				snowflake_floor(date_trunc('month', now(), 'UTC') - ago * interval '1 month'),
				snowflake_floor(date_trunc('month', now(), 'UTC') - (ago - 1) * interval '1 month'));
		END LOOP; END$$`)
	drop := func(options string) (string, error) {
		psql := exec.CommandContext(server.Within(t), server.Tool(t, "psql"), "-Xq", "-d", url)
		psql.Env = append(os.Environ(), "PGOPTIONS="+options)
		psql.Stdin = strings.NewReader(tablesPage(t, dropPartitions))
		out, err := psql.CombinedOutput()
		return string(out), err
	}
	report := server.Connect(t, url)
	server.Do(t, report, "BEGIN; SELECT count(*) FROM event")
	if out, err := drop("-c statement_timeout=1s"); err == nil || strings.Count(out, "ERROR") != 1 {
		t.Errorf("a detach that is interrupted: %v; nothing may follow it:\n%s", err, out)
	}
	if n := server.Value[int](t, conn, partitions+" AND inhdetachpending"); n != 1 {
		t.Errorf("%d partitions are half detached, expected 1", n)
	}
	server.Do(t, report, "COMMIT")
	for range 2 {
		if out, err := drop(""); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if n := server.Value[int](t, conn, partitions); n != 7 { // without those of 13 and 14 months ago
			t.Errorf("%d partitions are left, expected 7", n)
		}
	}
}

func TestQueriesReadThePartitionsThatThePageSays(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, "SET timezone = 'UTC'; SET enable_seqscan = off; SET enable_bitmapscan = off; "+
		"SET enable_hashjoin = off; SET enable_mergejoin = off; SET plan_cache_mode = force_generic_plan;"+
		tablesPage(t, partitionedTable))
	server.Do(t, conn, strings.Replace(tablesPage(t, nextPartitions), "0..3", "0..6", 1))
	server.Do(t, conn, "CREATE TABLE event_first PARTITION OF event FOR VALUES FROM (MINVALUE) TO (1)")
	server.Do(t, conn, "INSERT INTO event (payload) SELECT 'x' FROM generate_series(1, 1000); ANALYZE event; "+
		"CREATE TABLE other AS SELECT id AS event_id FROM event LIMIT 3; ANALYZE other; "+
		"PREPARE since (timestamptz) AS SELECT * FROM event WHERE id >= snowflake_floor($1)")
	all := server.Value[int](t, conn, "SELECT count(*) FROM pg_inherits WHERE inhparent = 'event'::regclass")
	month := func(ahead int) string {
		return server.Value[string](t, conn,
			"SELECT to_char(date_trunc('month', now()) + $1 * interval '1 month', 'YYYY-MM-DD')", ahead)
	}
	const of = "SELECT * FROM event WHERE "
	for _, test := range []struct {
		query   string
		scanned int // partitions that the plan has
		removed int // when the query begins to run
	}{
		{of + "id = " + server.Value[string](t, conn, "SELECT max(id)::text FROM event"), 1, 0},
		{of + fmt.Sprintf("id >= snowflake_floor('%s') AND id < snowflake_floor('%s')", month(2), month(3)), 1, 0},
		{of + fmt.Sprintf("id BETWEEN snowflake_floor('%s') AND snowflake_ceil('%s')", month(2), month(3)), 2, 0},
		{of + "id >= snowflake_floor(now() + interval '99 days')", 0, all},
		{"EXECUTE since ('" + month(5) + "')", 2, all - 2},
		{"DELETE FROM event WHERE id >= snowflake_floor('" + month(5) + "')", 2, 0},
		{of + "snowflake_time(id) >= '" + month(5) + "'", all, 0},
	} {
		plan := strings.Join(server.Values[string](t, conn, "EXPLAIN (COSTS OFF) "+test.query), "\n")
		removed := 0
		if _, text, found := strings.Cut(plan, "Subplans Removed: "); found {
			fmt.Sscan(text, &removed)
		}
		scanned := strings.Count(plan, " Scan ")
		if strings.Contains(test.query, "99 days") { // how many months that is depends on the date
			if removed == 0 || removed+scanned != all {
				t.Errorf("%s\n%s", test.query, plan)
			}
		} else if scanned != test.scanned || removed != test.removed {
			t.Errorf("%s\nreads %d and removes %d partitions, expected %d and %d:\n%s",
				test.query, scanned, removed, test.scanned, test.removed, plan)
		}
	}
	for query, unread := range map[string]int{
		"SELECT * FROM event ORDER BY id DESC LIMIT 10":               1, // that of old keys
		"SELECT * FROM event JOIN other ON event.id = other.event_id": all - 1,
	} {
		plan := strings.Join(server.Values[string](t, conn, "EXPLAIN (ANALYZE, COSTS OFF) "+query), "\n")
		if strings.Count(plan, "never executed") != unread {
			t.Errorf("%s\n%s", query, plan)
		}
	}
}

func TestOfABorderTheHalfOpenRangesCountEachIDOnce(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, tablesPage(t, partitionedTable)+
		"; CREATE TABLE event_all PARTITION OF event FOR VALUES FROM (MINVALUE) TO (MAXVALUE)")
	server.Do(t, conn, "SET timezone = 'UTC'; INSERT INTO event VALUES (snowflake_floor('2026-12-01'), 'the first')")
	november := server.Value[int](t, conn, tablesPage(t, november))
	december := server.Value[int](t, conn,
		"SELECT count(*) FROM event WHERE id >= snowflake_floor('2026-12-01') AND id < snowflake_floor('2026-12-02')")
	between := server.Value[int](t, conn,
		"SELECT count(*) FROM event WHERE id BETWEEN snowflake_floor('2026-11-01') AND snowflake_ceil('2026-12-01')")
	if november != 0 || december != 1 || between != 1 {
		t.Errorf("November has %d, December %d, and BETWEEN counts %d; expected 0, 1, 1", november, december, between)
	}
}

func TestATableWithRowsBecomesTheFirstPartitionAsThePageSays(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, `CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY, nr int, UNIQUE (nr, id));
		INSERT INTO item SELECT n, n FROM generate_series(1, 100) AS n;
		INSERT INTO item (nr) SELECT n FROM generate_series(1, 100) AS n`)
	file := server.Value[int64](t, conn, "SELECT pg_relation_filenode('item_pkey')::bigint")
	now := time.Now().UTC()
	border := time.Date(now.Year(), now.Month()+2, 1, 0, 0, 0, 0, time.UTC).Format("2006-01-02")
	server.Do(t, conn, strings.ReplaceAll(tablesPage(t, tableWithRows), "2027-01-01", border))
	next := strings.NewReplacer("event", "item", "        name :=",
		"        CONTINUE WHEN month < '"+border+"';\n        name :=").Replace(tablesPage(t, nextPartitions))
	for range 2 {
		server.Do(t, conn, next)
		const partitions = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'item'::regclass"
		if n := server.Value[int](t, conn, partitions); n != 3 {
			t.Errorf("there are %d partitions, expected the first and those of two months", n)
		}
	}
	server.Do(t, conn, "INSERT INTO item (nr) VALUES (1)")
	if rows := server.Value[int](t, conn, "SELECT count(*) FROM item"); rows != 201 {
		t.Errorf("%d rows are left, expected 201", rows)
	}
	if kept := server.Value[int64](t, conn, "SELECT pg_relation_filenode('item_pkey')::bigint"); kept != file {
		t.Error("the primary key was built anew")
	}
	if n := server.Value[int](t, conn, "SELECT count(*) FROM pg_constraint WHERE conname = 'item_end'"); n != 0 {
		t.Errorf("%d constraints item_end are left", n)
	}
}
