package database

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/generator"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// distinct checks that a column holds this number of IDs, all different, which increase in the order of insertion.
func distinct(t *testing.T, conn *pgx.Conn, table string, want int) {
	t.Helper()
	ids := values[int64](t, conn, "SELECT id FROM "+table+" ORDER BY ctid")
	if len(ids) != want {
		t.Errorf("%s has %d rows, want %d", table, len(ids), want)
	}
	for i := 1; i < len(ids); i++ {
		if ids[i] <= ids[i-1] {
			t.Fatalf("%s: row %d has ID %d after %d", table, i, ids[i], ids[i-1])
		}
	}
}

func TestDefaultGivesEachRowItsOwnIDHoweverRowsAreMade(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	run(t, conn, `CREATE TABLE item (n int, id bigint DEFAULT next_snowflake() PRIMARY KEY);
		INSERT INTO item (n) VALUES (1), (2), (3);
		INSERT INTO item (n) SELECT generate_series(4, 20000);
		INSERT INTO item DEFAULT VALUES`)
	tag, err := conn.CopyFrom(within(t), pgx.Identifier{"item"}, []string{"n"},
		pgx.CopyFromSlice(10000, func(i int) ([]any, error) { return []any{i}, nil }))
	if err != nil || tag != 10000 {
		t.Fatalf("COPY of %d rows: %v", tag, err)
	}
	distinct(t, conn, "item", 30001)
	run(t, conn, `CREATE TABLE old AS SELECT g AS n FROM generate_series(1, 20000) AS g;
		ALTER TABLE old ADD COLUMN id bigint NOT NULL DEFAULT next_snowflake()`)
	distinct(t, conn, "old", 20000)
}

func TestSavepointsAndTrappedErrorsGiveNoIDBack(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	ids := make(map[int64]bool)
	tx, err := conn.Begin(within(t))
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		inner, err := tx.Begin(within(t))
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			ids[value[int64](t, conn, "SELECT next_snowflake()")] = true
		}
		if err := inner.Rollback(within(t)); err != nil {
			t.Fatal(err)
		}
	}
	const locks = `SELECT count(*) FROM pg_locks
		WHERE pid = pg_backend_pid() AND relation = 'pgflurry.function_lock'::regclass`
	if held := value[int](t, conn, locks); held != 0 {
		t.Errorf("the transaction holds %d locks of the function", held)
	}
	if err := tx.Rollback(within(t)); err != nil {
		t.Fatal(err)
	}
	ids[value[int64](t, conn, "SELECT next_snowflake()")] = true
	if len(ids) != 601 {
		t.Errorf("%d different IDs of 601 drawn", len(ids))
	}
}

func TestEveryLayoutGivesIDsThatItsGeneratorReads(t *testing.T) {
	t.Parallel()
	for _, s := range []migrations.Settings{
		{Layout: "twitter"},
		{Layout: "datacenter"},
		{Layout: "javascript"},
		{Layout: "39/0/16/8", Unit: 10_000_000},                // Sonyflake's
		{Layout: "28/0/1/1", Unit: 1_000_000_000},              // the smallest
		{Layout: "43/0/1/19"},                                  // the least headroom
		{Layout: "28/0/13/22", Unit: 997_000_000},              // the longest sequence, an odd unit
		{Layout: "40/3/5/9", Unit: 3_000_000, Epoch: epoch(t)}, // an odd epoch
	} {
		t.Run(fmt.Sprintf("%s every %v", s.Layout, s.Unit), func(t *testing.T) {
			url := server.MigratedWith(t, s)
			n := row(t, url)
			conn := server.Connect(t, url)
			before := value[int64](t, conn, "SELECT pgflurry.ticks(clock_timestamp())")
			ids := values[int64](t, conn, "SELECT next_snowflake() FROM generate_series(1, 8)")
			bound := value[int64](t, conn, "SELECT last_value FROM pgflurry.mark")
			if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
				t.Errorf("IDs do not increase: %v", ids)
			}
			for _, id := range ids {
				parts, err := n.Layout.Decode(id)
				if err != nil {
					t.Fatal(err)
				}
				if parts.Worker != n.FunctionWorker || parts.Tick < before || parts.Tick >= bound {
					t.Errorf("ID %d is of worker %d, tick %d; want worker %d, tick %d to %d",
						id, parts.Worker, parts.Tick, n.FunctionWorker, before, bound)
				}
			}
			readsLike(t, conn, n.Layout, ids)
		})
	}
}

// readsLike compares the functions that decode an ID with the generator's Decode.
func readsLike(t *testing.T, conn *pgx.Conn, layout generator.Layout, ids []int64) {
	t.Helper()
	last, err := layout.Compose(layout.MaxTick(), layout.Workers()-1, layout.MaxSequence())
	if err != nil {
		t.Fatal(err)
	}
	first := layout.FirstTick() * int64(layout.Workers()) * int64(layout.MaxSequence()+1)
	for _, id := range append([]int64{first, last}, ids...) {
		want, err := layout.Decode(id)
		if err != nil {
			t.Fatal(err)
		}
		var got generator.Parts
		err = conn.QueryRow(within(t), `SELECT p."time", p.datacenter, p.worker, p.sequence
			FROM snowflake_parts($1) AS p
			WHERE p."time" = snowflake_time($1) AND p.worker = snowflake_worker($1)
				AND p.sequence = snowflake_sequence($1)`, id).
			Scan(&got.Time, &got.Datacenter, &got.Worker, &got.Sequence)
		if err != nil {
			t.Fatalf("ID %d: %v", id, err)
		}
		if !got.Time.Equal(want.Time) || got.Datacenter != want.Datacenter || got.Worker != want.Worker ||
			got.Sequence != want.Sequence {
			t.Errorf("ID %d reads %+v in SQL, %+v in Go", id, got, want)
		}
	}
	for _, key := range []int64{0, 1, first - 1} { // keys from before the table was converted
		if !value[bool](t, conn, `SELECT snowflake_time($1) IS NULL AND p."time" IS NULL AND p.sequence = $1 & $2
			FROM snowflake_parts($1) AS p`, key, layout.MaxSequence()) {
			t.Errorf("%d has a time", key)
		}
		if p, err := layout.Decode(key); err != nil || !p.Time.IsZero() {
			t.Errorf("%d is of %v in Go, %v", key, p.Time, err)
		}
	}
	if last < 1<<63-1 {
		refused(t, conn, "22003", fmt.Sprintf("SELECT snowflake_time(%d)", last+1))
	}
	refused(t, conn, "22003", "SELECT snowflake_worker(-1)")
}

func TestASmallSequenceRunsAheadOfTheClockAndThenWaits(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.MigratedWith(t, migrations.Settings{Layout: "41/0/10/1"})) // 2 IDs a millisecond
	var count int
	var ahead int64
	err := conn.QueryRow(within(t), `SELECT count(DISTINCT id), max((id >> 11) - pgflurry.ticks(clock_timestamp()))
		FROM (SELECT next_snowflake() AS id FROM generate_series(1, 12000) OFFSET 0) AS drawn`).Scan(&count, &ahead)
	if err != nil || count != 12000 || ahead > 1001 {
		t.Errorf("%d different IDs of 12000, %d ms ahead: %v", count, ahead, err)
	}
}

func TestAQuietDatabaseDoesNotGiveOnlyEvenIDs(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	odd := 0
	for range 40 { // each in another millisecond
		odd += int(value[int64](t, conn, "SELECT next_snowflake() & 1 FROM pg_sleep(0.002)"))
	}
	if odd == 0 || odd == 40 {
		t.Errorf("%d of 40 IDs are odd", odd)
	}
}

func TestNextSnowflakesGivesSoManyInOrder(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	for _, n := range []int{1, 2, 10000} {
		ids := values[int64](t, conn, "SELECT * FROM next_snowflakes($1)", n)
		if len(ids) != n || !slices.IsSorted(ids) || len(slices.Compact(ids)) != n {
			t.Errorf("next_snowflakes(%d) gave %d IDs, or not in order", n, len(ids))
		}
	}
	rows, err := conn.Query(within(t), "SELECT * FROM next_snowflakes(1)")
	if err != nil {
		t.Fatal(err)
	}
	if name := rows.FieldDescriptions()[0].Name; name != "next_snowflakes" {
		t.Errorf("the column is named %s", name)
	}
	rows.Close()
	for _, n := range []string{"0", "-1", "10001", "NULL", "9223372036854775807"} {
		if said := refused(t, conn, "22023", "SELECT * FROM next_snowflakes("+n+")"); said.Hint == "" {
			t.Errorf("next_snowflakes(%s) has no hint", n)
		}
	}
}

func TestAReadOnlyTransactionGetsAnError(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	refused(t, conn, "25006", "BEGIN READ ONLY; SELECT next_snowflake()")
}
