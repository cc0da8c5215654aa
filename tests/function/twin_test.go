package function_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"pgflurry/migrations"
	"pgflurry/postgres"
	"pgflurry/tests/support/server"
)

// twins is a migrated cluster and a copy of its files, both running. What the first does from now on the second never
// hears of. A standby is a twin that has not been promoted yet.
func twins(t *testing.T, standby bool) (first, second string) {
	t.Helper()
	original := server.Private(t, nil)
	up(t, original.URL("postgres"), migrations.Settings{})
	server.Exec(t, original.URL("postgres"), "SELECT next_snowflake()")
	stop(t, original)
	copied := original.Data + "-copy"
	if out, err := exec.CommandContext(within(t), "cp", "-a", original.Data, copied).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if standby {
		if err := os.WriteFile(filepath.Join(copied, "standby.signal"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return start(t, original.Data), start(t, copied)
}

func start(t *testing.T, data string) (url string) {
	t.Helper()
	binaries := server.Binaries(t)
	cluster, err := postgres.Start(within(t), postgres.Settings{
		Provider: postgres.Provider{Binaries: binaries}, Data: data,
		Options: map[string]string{"fsync": "off", "max_connections": "200", "max_wal_senders": "4", "wal_level": "logical", "track_commit_timestamp": "on"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, cluster) })
	return cluster.URL("postgres")
}

func stop(t *testing.T, cluster *postgres.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 20*time.Second)
	defer cancel()
	if err := cluster.Stop(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestAStandbyThatIsPromotedAfterItLostMarksGivesLaterIDs(t *testing.T) {
	primary, standby := twins(t, true)
	conn := server.Connect(t, standby)
	refused(t, conn, "25006", "SELECT next_snowflake()")
	drawing := server.Connect(t, primary)
	mark := value[int64](t, conn, "SELECT last_value FROM pgflurry.mark")
	var last int64
	for lost := mark; lost <= mark; lost = value[int64](t, drawing, "SELECT last_value FROM pgflurry.mark") { // it moves once in 1024 ticks
		last = value[int64](t, drawing, "SELECT max(id) FROM (SELECT next_snowflake() AS id FROM generate_series(1, 100000) OFFSET 0) AS drawn")
	}
	if !value[bool](t, conn, "SELECT pg_promote()") {
		t.Fatal("the standby was not promoted")
	}
	now := value[int64](t, conn, "SELECT pgflurry.ticks(clock_timestamp())")
	first := value[int64](t, conn, "SELECT next_snowflake()")
	if first <= last || first>>22 < now+2000 {
		t.Errorf("after %d comes %d, %d ms ahead of the clock", last, first, first>>22-now)
	}
	if known := value[int64](t, conn, "SELECT last_value FROM pgflurry.function_timeline"); known != 2 {
		t.Errorf("the function has noted timeline %d, want 2", known)
	}
}

func TestAPhysicalCopyOfTheHomeIsNoticedWhenItJoins(t *testing.T) {
	home, copied := twins(t, false)
	says(t, migrations.Up(within(t), copied, migrations.Settings{JoinURL: home}), "are both the home", "add --copy")
	up(t, copied, migrations.Settings{JoinURL: home, Copy: true})
	if a, b := worker(t, home), worker(t, copied); a != 0 || b != 1 {
		t.Errorf("the home uses worker %d, the copy %d", a, b)
	}
	if n := value[int](t, server.Connect(t, copied), "SELECT count(*) FROM pgflurry.worker WHERE retired_at IS NULL"); n > 0 {
		t.Errorf("%d workers could still be granted from the copy", n)
	}
}
