package database

import (
	"strings"
	"testing"
	"time"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// epoch returns an odd instant.
func epoch(t testing.TB) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, "2025-02-28T23:59:58.987Z")
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestFloorAndCeilAreExactAgainstSnowflakeTime(t *testing.T) {
	t.Parallel()
	for _, s := range []migrations.Settings{
		{}, {Layout: "javascript"}, {Layout: "40/0/8/9", Unit: 3_000_000, Epoch: epoch(t)},
	} {
		t.Run(s.Layout, func(t *testing.T) {
			url := server.MigratedWith(t, s)
			layout := row(t, url).Layout
			conn := server.Connect(t, url)
			below := int64(layout.Workers()) * int64(layout.MaxSequence()+1) // IDs of one tick
			for _, tick := range []int64{
				layout.FirstTick(), layout.FirstTick() + 1, 91_237_411_239, layout.MaxTick() - 1,
			} {
				for _, offset := range []time.Duration{
					0, time.Microsecond, layout.Unit / 2, layout.Unit - time.Microsecond,
				} {
					at := layout.Time(tick).Add(offset)
					first, last := tick, tick
					if offset > 0 {
						first++ // the tick itself began earlier
					}
					floor := value[int64](t, conn, "SELECT snowflake_floor($1)", at)
					ceil := value[int64](t, conn, "SELECT snowflake_ceil($1)", at)
					if floor != first*below || ceil != (last+1)*below-1 {
						t.Errorf("%s: floor %d, ceil %d; want %d, %d", at, floor, ceil, first*below, (last+1)*below-1)
					}
					const around = `SELECT snowflake_time($1) >= $3
						AND coalesce(snowflake_time($1 - 1), '-infinity') < $3
						AND snowflake_time($2) <= $3 AND snowflake_time($2 + 1) > $3`
					if !value[bool](t, conn, around, floor, ceil, at) {
						t.Errorf("%s: snowflake_time does not agree with floor %d and ceil %d", at, floor, ceil)
					}
				}
			}
		})
	}
}

func TestFloorAndCeilStayInsideTheLayoutAtItsEnds(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	layout := row(t, url).Layout
	conn := server.Connect(t, url)
	first := layout.FirstTick() << 22 // a day after the epoch; keys below it are from before
	end := layout.Time(layout.MaxTick()).Format(time.RFC3339Nano)
	for query, want := range map[string]int64{
		"snowflake_floor('-infinity')":                                  first,
		"snowflake_floor('2024-01-01Z')":                                first,
		"snowflake_floor('2024-01-02Z')":                                first,
		"snowflake_floor('2024-01-02 00:00:00.000001Z')":                first + 1<<22,
		"snowflake_ceil('2024-01-01Z')":                                 first - 1,
		"snowflake_ceil('2024-01-01 23:59:59.999999Z')":                 first - 1,
		"snowflake_ceil('2024-01-02Z')":                                 first + 1<<22 - 1,
		"snowflake_ceil('infinity')":                                    1<<63 - 1,
		"snowflake_ceil('" + end + "')":                                 1<<63 - 1,
		"snowflake_floor('" + end + "')":                                layout.MaxTick() << 22,
		"snowflake_ceil('" + end + "'::timestamptz - '1 us'::interval)": layout.MaxTick()<<22 - 1,
	} {
		if got := value[int64](t, conn, "SELECT "+query); got != want {
			t.Errorf("%s is %d, want %d", query, got, want)
		}
	}
	refused(t, conn, "22008", "SELECT snowflake_floor('infinity')")
	refused(t, conn, "22008", "SELECT snowflake_floor('"+end+"'::timestamptz + '1 us'::interval)")
	refused(t, conn, "22008", "SELECT snowflake_ceil('2023-12-31 23:59:59.999999Z')")
	const ofNull = `SELECT snowflake_floor(NULL) IS NULL AND snowflake_ceil(NULL) IS NULL
		AND snowflake_time(NULL) IS NULL`
	if !value[bool](t, conn, ofNull) {
		t.Error("NULL does not give NULL")
	}
}

func TestOldKeysAreInNoRangeOfTimeThatBeginsAndAboveNoEnd(t *testing.T) {
	t.Parallel()
	for _, s := range []migrations.Settings{
		{}, {Layout: "javascript"}, {Layout: "40/0/8/9", Unit: 7 * time.Millisecond, Epoch: epoch(t)},
	} {
		url := server.MigratedWith(t, s)
		layout := row(t, url).Layout
		conn := server.Connect(t, url)
		const counts = `WITH key AS (
				SELECT unnest(ARRAY[0, 1, 2147483647, snowflake_floor('-infinity') - 1]) AS id),
			instant AS (
				SELECT $1::timestamptz + i * interval '6 hours' AS t FROM generate_series(0, 12) AS i UNION
				SELECT timestamptz '-infinity')
			SELECT concat_ws(' ', count(*) FILTER (WHERE id >= snowflake_floor(t)),
				count(*) FILTER (WHERE t >= $1 AND id > snowflake_ceil(greatest(t, $1))), count(snowflake_time(id)))
			FROM key, instant`
		if got := value[string](t, conn, counts, layout.Epoch); got != "0 0 0" {
			t.Errorf("layout %s: old keys at or after an instant, above one, with a time: %s; want none", layout, got)
		}
	}
}

func TestARangeOfTimeUsesThePrimaryKey(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	run(t, conn, `CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY,
		filler text DEFAULT repeat('x', 100));
		INSERT INTO item (id) SELECT snowflake_floor(now() - i * interval '1 minute')
			FROM generate_series(1, 20000) AS i;
		ANALYZE item`)
	for _, where := range []string{
		"id >= snowflake_floor(now() - interval '1 day')",
		"id BETWEEN snowflake_floor(now() - interval '2 hours') AND snowflake_ceil(now() - interval '1 hour')",
		"id >= snowflake_floor(clock_timestamp()::timestamptz(0) - interval '1 day')",
	} {
		plan := strings.Join(values[string](t, conn, "EXPLAIN SELECT filler FROM item WHERE "+where), "\n")
		uses := strings.Contains(plan, "Index Cond") && strings.Contains(plan, "item_pkey")
		if volatile := strings.Contains(where, "clock_timestamp"); uses == volatile {
			t.Errorf("WHERE %s: index used: %v\n%s", where, uses, plan)
		}
	}
	got := value[int](t, conn, "SELECT count(*) FROM item WHERE id > snowflake_ceil(now() - interval '1 hour')")
	if got != 60 && got != 59 { // the one that is exactly an hour old lies between two ticks
		t.Errorf("%d rows of the last hour, want 60", got)
	}
}

func TestTimesReadTheSameInEverySession(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	const times = "SELECT snowflake_time(382463956435862324)::text || snowflake_floor('2026-06-01 12:00Z')"
	want := value[string](t, conn, times)
	for _, set := range []string{"datestyle = 'SQL, DMY'", "datestyle = German", "intervalstyle = iso_8601"} {
		run(t, conn, "SET "+set)
		got := value[string](t, conn, `SELECT to_char(snowflake_time(382463956435862324), 'YYYY-MM-DD HH24:MI:SS.MS') ||
			'+00' || snowflake_floor(timestamptz '2026-06-01 12:00Z')`)
		if got != want {
			t.Errorf("after SET %s: %s, want %s", set, got, want)
		}
	}
	up(t, conn.Config().ConnString()+"&options=-c%20datestyle%3DGerman", migrations.Settings{})
	run(t, conn, "RESET datestyle")
	if got := value[string](t, conn, times); got != want {
		t.Errorf("installed from a session with German dates: %s, want %s", got, want)
	}
}
