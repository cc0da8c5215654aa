//go:build full

package database

import (
	"os"
	"path/filepath"
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// Aurora's documentation says that unlogged tables survive a crash there. So what the lane shows after a crash may be
// older than the last draw. These tests make PostgreSQL behave so.

// lanes are the unlogged sequences of the function.
var lanes = []string{"lane", "lane_stand_in", "raiser", "raiser_stand_in", "confirmed", "confirmed_stand_in"}

const fewer = "SELECT next_snowflake() FROM generate_series(1, 4000)"

// The lane is in the log as other sequences are. A crash loses the end of the log, and with it the lane's last ticks.
func TestALaneThatIsLoggedGivesNoIDAgainAfterACrashThatLosesTheEndOfTheLog(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, map[string]string{"wal_writer_delay": "10s", "wal_buffers": "16MB"})
	url := cluster.URL("postgres")
	up(t, url, migrations.Settings{Layout: "41/0/10/2"}) // 4 IDs a millisecond
	conn := server.Connect(t, url)
	for _, name := range lanes {
		run(t, conn, "ALTER SEQUENCE pgflurry."+name+" SET LOGGED")
	}
	run(t, conn, "SELECT next_snowflake(); CHECKPOINT")
	open := server.Connect(t, url)
	run(t, open, "BEGIN")
	before := values[int64](t, open, "SELECT next_snowflake() FROM generate_series(1, 4000)")
	crash(t, cluster, open)
	noneAgain(t, before, values[int64](t, server.Connect(t, url), fewer))
}

// The server brings an old page of the lane along. The rows with IDs that were drawn since have survived.
func TestALaneThatComesBackOlderGivesNoIDOfASurvivingRowAgain(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	url := cluster.URL("postgres")
	up(t, url, migrations.Settings{Layout: "41/0/10/2"}) // 4 IDs a millisecond
	conn := server.Connect(t, url)
	run(t, conn, "CREATE TABLE item (id bigint DEFAULT next_snowflake(), n int); INSERT INTO item DEFAULT VALUES")
	files := make([]string, len(lanes))
	for i, name := range lanes {
		files[i] = value[string](t, conn, "SELECT pg_relation_filepath('pgflurry."+name+"')")
	}
	run(t, conn, "CREATE DATABASE flushed STRATEGY file_copy") // its checkpoint writes unlogged relations, too
	for _, file := range files {                               // what a crash leaves is what the server shows now
		keep(t, filepath.Join(cluster.Data, file))
	}
	run(t, conn, "INSERT INTO item (n) SELECT n FROM generate_series(1, 40) AS n")
	crash(t, cluster, conn)
	conn = server.Connect(t, url)
	after := values[int64](t, conn, fewer)
	noneAgain(t, values[int64](t, conn, "SELECT id FROM item"), after)
}

// keep makes a crash restore a file of an unlogged relation to what it holds now.
func keep(t *testing.T, path string) {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+"_init", page, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A lane at its START, as a crash of PostgreSQL leaves it, makes nobody wait. Nor does a server that has run for long.
func TestOnlyALaneThatTheServerHasBroughtAlongIsWaitedFor(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	url := cluster.URL("postgres")
	up(t, url, migrations.Settings{})
	wait := func() bool {
		return value[bool](t, recovered(t, cluster.URL("postgres")), "SELECT pgflurry.lane_wait() > 0")
	}
	conn := server.Connect(t, url)
	run(t, conn, "SELECT next_snowflake()")
	if wait() {
		t.Error("a lane that was started since the server began is waited for")
	}
	crash(t, cluster, conn)
	if wait() {
		t.Error("a lane at its START is waited for")
	}
	conn = server.Connect(t, url)
	run(t, conn, "SELECT next_snowflake()")
	stopped := value[string](t, conn, "SELECT clock_timestamp()::text")
	data, port := cluster.Data, cluster.Port
	server.Stop(t, cluster)
	cluster = server.Again(t, data, port)
	conn = server.Connect(t, cluster.URL("postgres"))
	if !value[bool](t, conn, "SELECT pgflurry.server_began() > '"+stopped+"'") {
		t.Error("a restart is no beginning of the server")
	}
	run(t, conn, "CREATE OR REPLACE FUNCTION pgflurry.server_began() RETURNS timestamptz LANGUAGE sql "+
		"AS 'SELECT clock_timestamp()'") // so that a slow machine is not too late
	if !wait() {
		t.Error("a lane of before the start is used at once")
	}
	more := value[float64](t, conn, `WITH before AS MATERIALIZED (SELECT pgflurry.lane_wait() AS wait),
		other AS MATERIALIZED (SELECT setval('pgflurry.function_timeline', 7) FROM before)
		SELECT pgflurry.lane_wait() - wait FROM before, other`)
	if more < 1 {
		t.Errorf("on another timeline the wait is %v s longer; expected the skew, 2 s", more)
	}
	up(t, cluster.URL("postgres"), migrations.Settings{})
	server.Eventually(t, conn, "pgflurry.lane_wait() = 0")
}

// What a session has found on a standby must not hold after the promotion.
func TestASessionOfAStandbyLooksAtTheLaneAnewAfterThePromotion(t *testing.T) {
	t.Parallel()
	primary := server.Private(t, nil)
	up(t, primary.URL("postgres"), migrations.Settings{})
	before := value[int64](t, server.Connect(t, primary.URL("postgres")), "SELECT next_snowflake()")
	standby := server.Standby(t, primary, "standby", "", nil)
	there := server.Connect(t, standby.URL("postgres"))
	refused(t, there, "25006", "SELECT next_snowflake()")
	if wait := value[float64](t, there, "SELECT pgflurry.lane_wait()"); wait != 1 {
		t.Errorf("on a standby the wait is %v s", wait)
	}
	server.Promote(t, standby)
	if after := value[int64](t, there, "SELECT next_snowflake()"); after <= before {
		t.Errorf("after the promotion ID %d follows %d", after, before)
	}
}

// The postmaster survives a crash of a backend, and its start is the same. The statistics do not survive.
func TestACrashOfABackendIsABeginningOfTheServer(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	url := cluster.URL("postgres")
	up(t, url, migrations.Settings{})
	conn := server.Connect(t, url)
	const began = "SELECT pgflurry.server_began()::text"
	before := value[string](t, conn, began)
	crash(t, cluster, conn)
	conn = server.Connect(t, url)
	if value[string](t, conn, began) == before {
		t.Errorf("after the crash the server still began at %s", before)
	}
	if !value[bool](t, conn, "SELECT pgflurry.server_began() > pg_postmaster_start_time()") {
		t.Error("the crash has restarted the postmaster; this test wants one that survives")
	}
}
