package database

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/server"
)

// tests/model/function.pml shows this story if the stand-in does not look whether the lane has moved
// (NO_LOOK_IF_MOVED).
func TestIDsDoNotGoBackIfTheStandInBeginsJustWhileTheHolderOfAStartGoesOn(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn, begins, standsIn := server.Connect(t, url), server.Connect(t, url), server.Connect(t, url)
	run(t, conn, "SELECT next_snowflake()")
	// so that no start waits for the clock
	server.Eventually(t, conn, "(SELECT last_value FROM pgflurry.mark) < pgflurry.ticks(clock_timestamp()) + 900")
	run(t, conn, "SELECT pg_advisory_lock(4242), pg_advisory_lock(4343)")
	const shows, looks = "shown := target << lane_bits |", "seconds := date_part('epoch', clock_timestamp()) - epoch;"
	rewrite(t, conn, "pgflurry.advance_slowly(bigint)", shows, held+"\n"+shows, 1)
	rewrite(t, conn, "pgflurry.advance_slowly_stand_in(bigint)", looks,
		strings.ReplaceAll(held, "4242", "4343")+"\n"+looks, 1)
	run(t, conn, toStart)

	first := later(t, begins, "SELECT next_snowflake()")
	holds(t, conn, "function_lock")
	second := later(t, standsIn, "SELECT next_snowflake()")
	holds(t, conn, "function_lock_stand_in")
	run(t, conn, "SELECT pg_advisory_unlock(4242)")
	last := <-first
	run(t, conn, "SELECT pg_advisory_unlock(4343)")
	for _, id := range append([]int64{<-second}, values[int64](t, conn,
		"SELECT next_snowflake() FROM generate_series(1, 10000)")...) {
		if id <= last {
			t.Fatalf("ID %d follows %d, and is %d ms below it", id, last, last>>22-id>>22)
		}
		last = id
	}
}

// later begins a call, and delivers its ID when it has one.
func later(t *testing.T, conn *pgx.Conn, call string) <-chan int64 {
	drawn := make(chan int64, 1)
	go func() {
		var id int64
		if err := conn.QueryRow(context.Background(), call).Scan(&id); err != nil {
			t.Error(err)
		}
		drawn <- id
	}()
	return drawn
}

// holds waits until a session with that lock is held.
func holds(t *testing.T, conn *pgx.Conn, lock string) {
	t.Helper()
	server.Eventually(t, conn, fmt.Sprintf(`EXISTS (SELECT FROM pg_stat_activity JOIN pg_locks USING (pid)
		WHERE application_name = 'held' AND relation = 'pgflurry.%s'::regclass AND granted)`, lock))
}
