package database

import (
	"context"
	"fmt"
	"testing"

	"pgflurry/tests/support/server"
)

// stopAt stops the clock of a database's functions in the middle of a tick. pass sets it.
func stopAt(t *testing.T, url string, tick int64) (pass func(tick int64)) {
	t.Helper()
	server.Exec(t, url, "CREATE SEQUENCE public.hand")
	pass = func(tick int64) {
		t.Helper()
		server.Exec(t, url, fmt.Sprintf("SELECT setval('public.hand', %d)", tick))
	}
	pass(tick)
	server.FunctionClock(t, url,
		"(SELECT (to_timestamp(1704067200.0005 + last_value / 1000.0) - clock_timestamp())::text FROM public.hand)")
	return pass
}

// The counter of the last tick of a block runs over. So the lane enters the next block, and no call has raised the mark
// for that. Calls go on there. Then the clock is set back, and the lane sent to START.
func TestTheMarkCoversTheBlockThatACounterRunsOverInto(t *testing.T) {
	t.Parallel()
	t.Run("advance()", func(t *testing.T) {
		const end = "::bigint)\n                                OPERATOR(pg_catalog.<<) 10) AS b (mark)"
		theMarkCoversTheNextBlock(t, "0", "pgflurry.advance(bigint)",
			"OPERATOR(pg_catalog.+) 2"+end, "OPERATOR(pg_catalog.+) 1"+end)
	})
	t.Run("advance_slowly()", func(t *testing.T) {
		theMarkCoversTheNextBlock(t, "5", "pgflurry.advance_slowly(bigint)",
			"'pgflurry.mark'::regclass, ((target >> block_bits) + 2)",
			"'pgflurry.mark'::regclass, ((target >> block_bits) + 1)")
	})
}

// theMarkCoversTheNextBlock takes the way that the raiser leads to. without is text without the guard.
func theMarkCoversTheNextBlock(t *testing.T, raiser, function, text, without string) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	const next = (noon>>10 + 1) << 10 // first tick of the next block
	pass := stopAt(t, url, noon)
	// The function looks at the server's clock, and then at the hand. A machine that is busy in between shows another
	// tick. So all of it is done once more.
	var again func() (tick, last int64)
	tries := 100
	again = func() (tick, last int64) {
		if tries--; tries == 0 {
			t.Fatal("the function is never in the clock's tick")
		}
		pass(noon)
		run(t, conn, fmt.Sprintf(
			"SELECT setval('pgflurry.lane', %d), setval('pgflurry.mark', %d), nextval('pgflurry.mark'), "+
				"setval('pgflurry.raiser', %s)", (noon-1024)<<22, noon>>10<<10, raiser))
		if tick := value[int64](t, conn, "SELECT next_snowflake()") >> 22; tick != noon {
			t.Logf("the function is in tick %d, not in the clock's, %d", tick, noon)
			return again()
		}
		run(t, conn, fmt.Sprintf("SELECT setval('pgflurry.lane', %d)", next<<22|200))
		pass(next + 500)
		last = value[int64](t, conn, "SELECT next_snowflake()") >> 22
		if last != next+500 {
			t.Logf("the function is in tick %d, not in the clock's, %d", last, next+500)
			return again()
		}
		pass(noon)
		run(t, conn, "SELECT setval('pgflurry.lane', 2097152)")
		const waits = "SELECT last_value + is_called::int FROM pgflurry.clock_waits"
		before := value[int64](t, conn, waits)
		drawing, drawn := server.Connect(t, url), make(chan int64, 1)
		go func() {
			var id int64
			if err := drawing.QueryRow(context.Background(), "SELECT next_snowflake()").Scan(&id); err != nil {
				t.Error(err)
			}
			drawn <- id >> 22
		}()
		for {
			select {
			case tick = <-drawn:
				return tick, last
			default:
				if value[int64](t, conn, waits) > before {
					pass(next + 1100) // it waits for the clock
				}
			}
		}
	}
	if tick, last := again(); tick <= last {
		t.Errorf("after an ID of tick %d comes one of tick %d", last, tick)
	}
	rewrite(t, conn, function, text, without, 1)
	if tick, last := again(); tick > last {
		t.Error("without the guard nothing is noticed")
	}
}
