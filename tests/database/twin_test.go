//go:build full

package database

import (
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

func TestAStandbyThatIsPromotedAfterItLostMarksGivesLaterIDs(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	primary := cluster.URL("postgres")
	up(t, primary, migrations.Settings{})
	server.Exec(t, primary, "SELECT next_snowflake()")
	standby := server.Standby(t, cluster, "standby", "", nil)
	conn := server.Connect(t, standby.URL("postgres"))
	refused(t, conn, "25006", "SELECT next_snowflake()")
	drawing := server.Connect(t, primary)
	mark := value[int64](t, conn, "SELECT last_value FROM pgflurry.mark")
	var last int64
	// the mark moves once in 1024 ticks
	for lost := mark; lost <= mark; lost = value[int64](t, drawing, "SELECT last_value FROM pgflurry.mark") {
		last = value[int64](t, drawing,
			"SELECT max(id) FROM (SELECT next_snowflake() AS id FROM generate_series(1, 100000) OFFSET 0) AS drawn")
	}
	server.Promote(t, standby)
	now := value[int64](t, conn, "SELECT pgflurry.ticks(clock_timestamp())")
	first := value[int64](t, conn, "SELECT next_snowflake()")
	if first <= last || first>>22 < now+2000 {
		t.Errorf("after %d comes %d, %d ms ahead of the clock", last, first, first>>22-now)
	}
	if known := value[int64](t, conn, "SELECT last_value FROM pgflurry.function_timeline"); known != 2 {
		t.Errorf("the function has noted timeline %d, want 2", known)
	}
}
