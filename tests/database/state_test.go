package database

import (
	"testing"

	"pgflurry/tests/support/server"
)

// Parts of the default layout, for tests that set the state of the function.
const (
	laneStart = 1 << 21
	laneGuard = 3 << 20
)

func TestAfterACrashIDsGoOnAtTheMarkOrLater(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	before := value[int64](t, conn, "SELECT next_snowflake()")
	mark := value[int64](t, conn, "SELECT last_value FROM pgflurry.mark")
	// the mark covers a block of 1024 and the next one, and has moved by one more tick
	if tick := before >> 22; mark != (tick>>10+2)<<10+1 {
		t.Errorf("the mark is %d ticks after the ID, want %d", mark-tick, (tick>>10+2)<<10+1-tick)
	}
	run(t, conn, "SELECT setval('pgflurry.lane', 2097152)") // the value of an unlogged sequence after crash recovery
	after := value[int64](t, conn, "SELECT next_snowflake()")
	now := value[int64](t, conn, "SELECT pgflurry.ticks(clock_timestamp())")
	if after>>22 < mark || after>>22 > now+1001 {
		t.Errorf("tick %d follows, want the mark, %d, or later, and at most %d", after>>22, mark, now+1001)
	}
	start := value[int64](t, conn, "SELECT seqstart FROM pg_sequence WHERE seqrelid = 'pgflurry.lane'::regclass")
	if start != laneStart {
		t.Errorf("the lane starts at %d, want %d", start, laneStart)
	}
}

func TestOnAnotherTimelineIDsKeepTheDistanceOfTheSkew(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	run(t, conn, "SELECT next_snowflake(); SELECT setval('pgflurry.function_timeline', 7); "+
		"SELECT setval('pgflurry.lane', 2097152)")
	now := value[int64](t, conn, "SELECT pgflurry.ticks(clock_timestamp())")
	first := value[int64](t, conn, "SELECT next_snowflake()") >> 22
	if first < now+2000 {
		t.Errorf("the first tick is %d ms ahead of the clock, want 2000", first-now)
	}
	if known := value[int64](t, conn, "SELECT last_value FROM pgflurry.function_timeline"); known != 1 {
		t.Errorf("the function has noted timeline %d, want 1", known)
	}
}

func TestANewFunctionAndEachResetBeginOneSecondAheadOfTheClockAndDoNotRunAway(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	var last int64
	for range 4 {
		before := value[int64](t, conn, "SELECT pgflurry.ticks(clock_timestamp())")
		id := value[int64](t, conn, "SELECT next_snowflake()")
		after := value[int64](t, conn, "SELECT pgflurry.ticks(clock_timestamp())")
		if tick := id >> 22; tick < before+1001 || tick > after+1001 || id <= last {
			t.Errorf("ID %d after %d is %d to %d ticks ahead of the clock, want 1001",
				id, last, tick-after, tick-before)
		}
		last = id
		run(t, conn, "SELECT setval('pgflurry.lane', (last_value >> 22 << 22) + 3145728) FROM pgflurry.lane")
	}
}

func TestAWastedCounterSendsTheLaneBackAndIDsGoOnIncreasing(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	before := value[int64](t, conn, "SELECT next_snowflake()")
	run(t, conn, "SELECT setval('pgflurry.lane', (last_value >> 22 << 22) + 3145728) FROM pgflurry.lane")
	after := value[int64](t, conn, "SELECT next_snowflake()")
	if after <= before || value[int64](t, conn, "SELECT last_value & 4194303 FROM pgflurry.lane") >= laneGuard {
		t.Errorf("ID %d follows %d, or the counter is still beyond its guard", after, before)
	}
}

func TestAClockThatIsSetBackGivesNoIDTwice(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	server.FunctionClock(t, url, steps)
	conn := server.Connect(t, url)
	run(t, conn, "SET test.step = '0'")
	last := value[int64](t, conn, "SELECT next_snowflake()")
	for _, step := range []string{"-100 ms", "-900 ms", "-1300 ms"} { // at the last step a draw waits for the clock
		run(t, conn, "SET test.step = '"+step+"'")
		id := value[int64](t, conn,
			"SELECT max(id) FROM (SELECT next_snowflake() AS id FROM generate_series(1, 5000) OFFSET 0) AS drawn")
		if id <= last {
			t.Errorf("with the clock at %s ID %d follows %d", step, id, last)
		}
		last = id
	}
	run(t, conn, "SET test.step = '-1 minute'")
	// the function hands out the rest of the tick, whatever the clock shows
	says(t, refused(t, conn, "SNF01", "SELECT next_snowflake() FROM generate_series(1, 5000)"),
		"ms behind the last ID, more than 7048 ms", "set back")
	run(t, conn, "SET test.step = '-10 years'")
	says(t, refused(t, conn, "SNF02", "SELECT next_snowflake()"), "2024-01-01", "2093-09-06", "Correct the clock")
	run(t, conn, "SET test.step = '80 years'")
	refused(t, conn, "SNF02", "SELECT next_snowflake()")
	run(t, conn, "SET test.step = '0'")
	if id := value[int64](t, conn, "SELECT next_snowflake()"); id <= last {
		t.Errorf("with the clock corrected ID %d follows %d", id, last)
	}
}

func TestWhileAnotherSessionIsStoppedInTheMiddleOfAnAdvanceIDsGoOn(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	holder, conn := server.Connect(t, url), server.Connect(t, url)
	run(t, holder, "BEGIN; LOCK TABLE pgflurry.function_lock IN SHARE ROW EXCLUSIVE MODE")

	// The lane is a minute ahead of the clock, so the tick of a draw never gets old.
	server.FunctionClock(t, url, steps)
	run(t, conn, "SET test.step = '-1 day'; "+
		"SELECT setval('pgflurry.lane', (pgflurry.ticks(clock_timestamp() - interval '1 day') + 60000) << 22)")
	if ids := values[int64](t, conn, "SELECT next_snowflake() FROM generate_series(1, 100)"); len(ids) != 100 {
		t.Errorf("%d IDs of 100 while the lock is held", len(ids))
	}
}

func TestAParallelPlanMayAskWhichDatabaseThisIs(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, `SELECT set_config(CASE WHEN current_setting('server_version_num')::int < 160000
		THEN 'force_parallel_mode' ELSE 'debug_parallel_query' END, 'on', false)`)
	if !server.Value[bool](t, conn, "SELECT pgflurry.is_original()") {
		t.Error("the original is none")
	}
}

// steps gives each session a clock of its own, which the session sets back and forth. To the function that looks like
// one clock that is stepped.
const steps = "pg_catalog.current_setting('test.step')"
