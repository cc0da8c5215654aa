package database

import (
	"context"
	"slices"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/postgres"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// crash kills the backend of conn, as the kernel does when memory runs out. The server ends all other backends and
// recovers from its log. crash returns when the server answers again.
func crash(t *testing.T, cluster *postgres.Cluster, conn *pgx.Conn) {
	t.Helper()
	pid := int(conn.PgConn().PID())
	if !server.IsBackend(cluster, pid) {
		t.Fatalf("process %d is no backend of this server", pid)
	}
	witness := server.Connect(t, cluster.URL("postgres"))
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for ctx := within(t); ; { // until the server has noticed the crash
		if _, err := witness.Exec(ctx, "SELECT pg_sleep(60)"); err != nil {
			break
		}
	}
	recovered(t, cluster.URL("postgres"))
}

// recovered connects to a server as soon as it has recovered.
func recovered(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	for ctx := within(t); ; {
		conn, err := pgx.Connect(ctx, url)
		if err == nil {
			t.Cleanup(func() { conn.Close(context.WithoutCancel(ctx)) })
			return conn
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

const some = "SELECT next_snowflake() FROM generate_series(1, 20000)"

// noneAgain expects every ID after a crash to be above all IDs before it.
func noneAgain(t *testing.T, before, after []int64) {
	t.Helper()
	slices.Sort(before)
	if last, first := before[len(before)-1], after[0]; first <= last {
		t.Errorf("after the crash comes %d, %d ticks before the last one, %d", first, last>>22-first>>22, last)
	}
	both := slices.Concat(before, after)
	slices.Sort(both)
	if n := len(both) - len(slices.Compact(both)); n > 0 {
		t.Errorf("%d IDs came twice", n)
	}
}

// The marks that an open transaction has logged do not reach the disk. But clients already have the IDs that finished
// statements drew beyond the older marks.
func TestAfterACrashThatLosesMarksOfALaneAheadOfTheClockNoIDComesAgain(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	url := cluster.URL("postgres")
	up(t, url, migrations.Settings{Layout: "41/0/10/2"}) // 4 IDs a millisecond
	conn := server.Connect(t, url)
	run(t, conn, "CHECKPOINT")
	open := server.Connect(t, url)
	run(t, open, "BEGIN; SELECT count(next_snowflake()) FROM generate_series(1, 19000)")
	before := values[int64](t, conn, "SELECT next_snowflake() FROM generate_series(1, 200)")
	crash(t, cluster, open)
	noneAgain(t, before, values[int64](t, server.Connect(t, url), some))
}

func TestAfterTwoCrashesInOneSecondNoIDComesAgain(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	url := cluster.URL("postgres")
	up(t, url, migrations.Settings{})
	conn := server.Connect(t, url)
	// begin at the start of a block of the mark, so that the first crash leaves the lane one or two seconds ahead
	run(t, conn, "SELECT pg_sleep((1030 - pgflurry.ticks(clock_timestamp()) % 1024) / 1000.0); SELECT next_snowflake()")
	crash(t, cluster, conn)
	open := server.Connect(t, url)
	run(t, open, "BEGIN; SELECT next_snowflake()")
	before := values[int64](t, server.Connect(t, url), some)
	crash(t, cluster, open)
	noneAgain(t, before, values[int64](t, server.Connect(t, url), some+" UNION ALL "+some+" UNION ALL "+some))
}

// Two starts within one second of the clock would begin at the same second. So the later one waits for the next.
func TestAfterCrashesWithinOneTickNoIDComesAgain(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	url := cluster.URL("postgres")
	up(t, url, migrations.Settings{Layout: "31/0/10/12", Unit: 1_000_000_000})
	var before []int64
	for range 3 {
		open := server.Connect(t, url)
		run(t, open, "BEGIN; SELECT next_snowflake()")
		after := values[int64](t, server.Connect(t, url), "SELECT next_snowflake() FROM generate_series(1, 100)")
		if before != nil {
			noneAgain(t, before, after)
		}
		before = append(before, after...)
		crash(t, cluster, open)
	}
}
