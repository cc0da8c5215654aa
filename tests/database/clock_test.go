package database

import (
	"testing"

	"pgflurry/tests/support/server"
)

// ahead puts the last ID $1 milliseconds ahead of the clock, with its tick used up. So does a clock that is set back by
// that time.
const ahead = "SELECT setval('pgflurry.lane', ((pgflurry.ticks(clock_timestamp()) + $1::bigint) << 22) | 4095)"

func TestAClockThatIsSetBackIsSeenInTheCountersOfTheFunction(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	counters := func() (ms, waits, refusals int64) {
		t.Helper()
		const clock = "SELECT coalesce(ahead_ms, -1), waits, refusals FROM pgflurry.snowflake_clock()"
		err := conn.QueryRow(server.Within(t), clock).Scan(&ms, &waits, &refusals)
		if err != nil {
			t.Fatal(err)
		}
		return ms, waits, refusals
	}
	if ms, waits, refusals := counters(); ms != -1 || waits != 0 || refusals != 0 {
		t.Errorf("before the first ID: %d ms, %d waits, %d refusals", ms, waits, refusals)
	}
	last := server.Value[int64](t, conn, "SELECT next_snowflake()")
	if ms, waits, _ := counters(); ms < -60_000 || ms > 1001 || waits != 0 {
		t.Errorf("after the first ID: %d ms ahead, %d waits", ms, waits)
	}
	server.Value[int64](t, conn, ahead, 1300) // 300 ms more than the function may be ahead: callers wait
	for range 2 {
		id := server.Value[int64](t, conn, "SELECT next_snowflake()")
		if id <= last {
			t.Errorf("ID %d follows %d", id, last)
		}
		last = id
	}
	if _, waits, refusals := counters(); waits != 1 || refusals != 0 {
		t.Errorf("set back by 1.3 s: %d waits, %d refusals, want 1 and none", waits, refusals)
	}
	server.Value[int64](t, conn, ahead, 60_000)
	server.Refused(t, conn, "SNF01", "BEGIN; SELECT next_snowflake()")
	if ms, waits, refusals := counters(); ms < 50_000 || ms > 60_000 || waits != 1 || refusals != 1 {
		t.Errorf("set back by a minute: %d ms ahead, %d waits, %d refusals, want nearly 60000, 1, 1",
			ms, waits, refusals)
	}
}
