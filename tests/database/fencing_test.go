package database

import (
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// With a worker of its own the function begins at the clock again, far below the IDs of before.
func TestFencingTokensRiseAlsoAfterTheFunctionGotAFreshWorker(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	last := map[string]int64{}
	takes := func(name string) {
		t.Helper()
		token := try(t, conn, name, "ann")
		if token <= last[name] {
			t.Errorf("fencing token %d of %s follows %d", token, name, last[name])
		}
		last[name] = token
		server.Do(t, conn, "SELECT pgflurry.unlock('"+name+"', 'ann')")
	}
	clean := func() {
		t.Helper()
		server.Do(t, conn, "UPDATE pgflurry.lock SET expires_at = clock_timestamp() - interval '61 s'; "+
			"SELECT pgflurry.clean_locks()")
	}
	fresh := func() {
		t.Helper()
		if err := migrations.Up(server.Within(t), url, migrations.Settings{FreshWorker: true}); err != nil {
			t.Fatal(err)
		}
	}
	server.FunctionClock(t, url, "'10 years'")
	takes("gone")
	clean()
	takes("door")
	before := server.Value[int64](t, conn, "SELECT next_snowflake()")
	fresh()
	if id := server.Value[int64](t, conn, "SELECT next_snowflake()"); id >= before {
		t.Fatalf("ID %d follows %d, so this proves nothing", id, before)
	}
	for range 2 {
		for range 2 {
			takes("gone") // its row was cleaned away before
			takes("door")
			takes("new")
			clean()
		}
		fresh() // the mark of the worker left now is lower than that of the first
	}
}
