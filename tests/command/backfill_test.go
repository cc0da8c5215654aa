package command

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
	"pgflurry/tests/support/volume"
)

// rows makes a table whose rows wait for IDs. created is an SQL expression of n, which counts the rows.
func rows(t *testing.T, conn *pgx.Conn, count int, created string) {
	t.Helper()
	server.Do(t, conn, "CREATE TABLE item (n bigint PRIMARY KEY, created_at timestamptz, new_id bigint)")
	server.Do(t, conn, fmt.Sprintf("INSERT INTO item SELECT n, %s FROM generate_series(1, %d) AS n", created, count))
}

// backfilled runs a backfill for whose rows the operator vouches.
func backfilled(t *testing.T, url string, more ...string) ended {
	t.Helper()
	return run(t, append([]string{
		"backfill", "item", "--id", "new_id", "--time", "created_at", "--order", "n", "--nothing-lost",
		"--database", url,
	}, more...)...)
}

// drawing draws IDs over a connection until the test says that it is enough.
func drawing(t *testing.T, url string) (enough func() []int64) {
	t.Helper()
	conn := server.Connect(t, url)
	ctx, stop := context.WithCancel(t.Context())
	var ids []int64
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			found, err := conn.Query(context.WithoutCancel(ctx), "SELECT * FROM next_snowflakes(100)")
			if err != nil {
				t.Error(err)
				return
			}
			some, err := pgx.CollectRows(found, pgx.RowTo[int64])
			if err != nil {
				t.Error(err)
				return
			}
			ids = append(ids, some...)
		}
	})
	return func() []int64 { stop(); done.Wait(); return ids }
}

func TestRowsOfOneInstantGetIDsThatNobodyElseGets(t *testing.T) {
	t.Parallel()
	const width = 4096 // IDs of a worker in a tick
	count := volume.Of(100_000, 1_000_000)
	late := count / width // for these counts, wherever the first one stands in its tick
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	rows(t, conn, count, "'2025-05-05 05:05:05.005+00'")
	proxy := program.Serve(t, url, "beside")
	proxy.Leased()
	byProxy, byFunction := drawing(t, proxy.URL), drawing(t, url)
	e := backfilled(t, url)
	e.is(t, 0)
	drawn := append(byProxy(), byFunction()...)
	if !strings.Contains(e.out, fmt.Sprintf("%d rows of public.item have IDs of worker ", count)) ||
		!strings.Contains(e.out, fmt.Sprintf("by up to %dms", late)) {
		t.Errorf("it says\n%s", e.out)
	}
	seen := make(map[int64]bool, count+len(drawn))
	last := int64(0)
	for _, id := range server.Values[int64](t, conn, "SELECT new_id FROM item ORDER BY n") {
		if id <= last {
			t.Fatalf("ID %d is not above that of the row before, %d", id, last)
		}
		last, seen[id] = id, true
	}
	for _, id := range drawn {
		if seen[id] {
			t.Fatalf("ID %d was drawn, and a row has it", id)
		}
		seen[id] = true
	}
	if len(seen) != count+len(drawn) || len(drawn) == 0 {
		t.Errorf("%d different IDs of %d rows and %d draws", len(seen), count, len(drawn))
	}
	const lateness = `SELECT format('%s %s',
			round(extract(epoch FROM snowflake_time(min(new_id)) - min(created_at)) * 1000),
			round(extract(epoch FROM snowflake_time(max(new_id)) - max(created_at)) * 1000)) FROM item`
	if got := server.Value[string](t, conn, lateness); got != fmt.Sprint("0 ", late) {
		t.Errorf("the first and the last ID are late by %s ms, expected 0 and %d", got, late)
	}
}

func TestAnIDIsOfTheTickOfItsRowInEachLayout(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string][]string{
		"default":       {},
		"javascript":    {"--layout", "javascript"},
		"datacenter":    {"--layout", "datacenter", "--region", "3"},
		"ten ms":        {"--layout", "39/0/12/12", "--unit", "10ms"},
		"a second":      {"--layout", "34/0/8/20", "--unit", "1s", "--epoch", "2015-01-01T00:00:00Z"},
		"two in a tick": {"--layout", "41/0/10/1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := server.Database(t)
			run(t, append([]string{"migrate", "up", "--database", url}, settings...)...).is(t, 0)
			conn := server.Connect(t, url)
			rows(t, conn, 2000, "'2025-05-05'::timestamptz + n * interval '1.7 s' + (n % 3) * interval '1 us'")
			backfilled(t, url).is(t, 0)
			const wrong = `SELECT count(*) FROM item AS i, pgflurry.namespace AS s, snowflake_parts(new_id) AS p
				WHERE p.time IS NULL OR i.created_at < p.time OR i.created_at >= p.time + s.unit
					OR p.worker <> (SELECT worker FROM pgflurry.worker WHERE kind = 'proxy' AND term = 1)`
			if n := server.Value[int](t, conn, wrong); n != 0 {
				t.Errorf("%d of 2000 IDs are not of the tick of their row, or of another worker", n)
			}
			const disorder = `SELECT count(*) FROM (
				SELECT new_id <= lag(new_id) OVER (ORDER BY created_at, n) AS wrong FROM item) AS i WHERE wrong`
			if n := server.Value[int](t, conn, disorder); n != 0 {
				t.Errorf("%d of 2000 IDs are not above the one before", n)
			}
			// a sparse table has no remainder for itself, if the layout has room for a choice
			odd := server.Value[int](t, conn, "SELECT count(*) FROM item WHERE new_id % 2 = 1")
			if name != "two in a tick" && (odd < 800 || odd > 1200) {
				t.Errorf("%d of 2000 IDs are odd", odd)
			}
		})
	}
}

// Rows of full ticks wait as in a queue. Each takes the next free place, in its tick or in the first one that has room.
func TestRowsOfAFullTickMoveToTheNextOnesAndNoFurther(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	run(t, "migrate", "up", "--database", url, "--layout", "41/0/10/2").is(t, 0) // four IDs in a tick
	conn := server.Connect(t, url)
	// 23 rows in tick 0, two in tick 3, one in tick 20, each at another microsecond
	rows(t, conn, 26, `'2025-05-05 05:05:05+00'::timestamptz + n * interval '1 microsecond'
		+ CASE WHEN n <= 23 THEN 0 WHEN n <= 25 THEN 3 ELSE 20 END * interval '1 ms'`)
	e := backfilled(t, url, "--json")
	e.is(t, 0)
	const ticks = `SELECT string_agg(tick || 'x' || count, ' ' ORDER BY tick) FROM (
		SELECT round(extract(epoch FROM snowflake_time(new_id) - '2025-05-05 05:05:05+00') * 1000) AS tick, count(*)
		FROM item GROUP BY 1) AS t`
	if got := server.Value[string](t, conn, ticks); got != "0x4 1x4 2x4 3x4 4x4 5x4 6x1 20x1" {
		t.Errorf("ticks of the IDs: %s", got)
	}
	if !strings.Contains(e.out, `"moved": 21, "latest_seconds": 0.005`) {
		t.Errorf("it says\n%s", e.out)
	}
}

func TestARunThatFailsChangesNothingAndTheNextTakesAnotherPast(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	rows(t, conn, 1000, "'2025-05-05'::timestamptz + n * interval '1 s'")
	server.Do(t, conn, `CREATE TABLE shown (id bigint);
		CREATE FUNCTION public.fails() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN IF NEW.n = 999 THEN RAISE 'the trigger of item, ID %', NEW.new_id; END IF; RETURN NEW; END $$;
		CREATE TRIGGER fails BEFORE UPDATE ON item FOR EACH ROW EXECUTE FUNCTION fails()`)
	failed := backfilled(t, url)
	failed.is(t, 1, "the trigger of item, ID ")
	if n := server.Value[int](t, conn, "SELECT count(new_id) FROM item"); n != 0 {
		t.Fatalf("%d rows have IDs after a run that failed", n)
	}
	var shown int64
	_, after, _ := strings.Cut(failed.errs, "of item, ID ")
	if _, err := fmt.Sscan(after, &shown); err != nil {
		t.Fatal(err)
	}
	server.Do(t, conn, "DROP TRIGGER fails ON item")
	backfilled(t, url).is(t, 0)
	if server.Value[bool](t, conn, "SELECT EXISTS (SELECT FROM item WHERE new_id = $1)", shown) {
		t.Errorf("the second run gave ID %d again, which the first one has shown", shown)
	}
	const used = "SELECT count(*) FROM pgflurry.worker WHERE kind = 'proxy' AND term = 1 AND node LIKE 'backfill of %'"
	if n := server.Value[int](t, conn, used); n != 2 {
		t.Errorf("two runs took the past of %d workers", n)
	}
	again := backfilled(t, url)
	again.is(t, 0)
	if !strings.Contains(again.out, "no row of public.item lacks an ID") || server.Value[int](t, conn, used) != 2 {
		t.Errorf("a run without rows says %s", again.out)
	}
}

func TestOfTwoRunsAtOnceOneFillsTheRows(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	rows(t, conn, 20_000, "'2025-05-05'::timestamptz + n * interval '1 ms'")
	program.Path(t)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { backfilled(t, url).is(t, 0) })
	}
	both.Wait()
	const state = `SELECT format('%s %s %s', count(*), count(DISTINCT new_id), count(DISTINCT snowflake_worker(new_id)))
		FROM item`
	if got := server.Value[string](t, conn, state); got != "20000 20000 1" {
		t.Errorf("rows, different IDs and workers: %s", got)
	}
}

func TestBackfillFillsPartitionsRowsThatOthersInsertLaterAndADatabaseThatHasJoined(t *testing.T) {
	t.Parallel()
	home := server.Migrated(t)
	url := server.MigratedWith(t, migrations.Settings{JoinURL: home})
	conn := server.Connect(t, url)
	server.Do(t, conn, `CREATE TABLE item (n bigint, created_at timestamp, new_id bigint) PARTITION BY HASH (n);
		CREATE TABLE item_0 PARTITION OF item FOR VALUES WITH (MODULUS 2, REMAINDER 0);
		CREATE TABLE item_1 PARTITION OF item FOR VALUES WITH (MODULUS 2, REMAINDER 1);
		INSERT INTO item SELECT n, '2025-05-05'::timestamp + n * interval '1 s' FROM generate_series(1, 1000) AS n`)
	backfilled(t, url, "--time-zone", "Europe/Berlin").is(t, 2, "has no worker rows", "--lease-database")
	pooled := server.Pooler(t, url, 2)
	backfilled(t, pooled, "--time-zone", "Europe/Berlin", "--lease-database", home).is(t, 0)
	server.Do(t, conn, "INSERT INTO item VALUES (1001, '2025-05-06')")
	backfilled(t, url, "--time-zone", "Europe/Berlin", "--lease-database", home).is(t, 0)
	const state = `SELECT format('%s %s %s', count(DISTINCT new_id),
			count(*) FILTER (WHERE snowflake_time(new_id) = created_at AT TIME ZONE 'Europe/Berlin'),
			count(DISTINCT snowflake_worker(new_id))) FROM item`
	if got := server.Value[string](t, conn, state); got != "1001 1001 2" {
		t.Errorf("different IDs, those of the time of their row, and workers: %s", got)
	}
	const known = "SELECT count(*) FROM pgflurry.worker WHERE node = 'backfill of public.item.new_id'"
	if n := server.Value[int](t, server.Connect(t, home), known); n != 2 {
		t.Errorf("the home knows %d runs", n)
	}
}
