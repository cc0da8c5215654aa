package server_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// own is what each database has for itself: names, times, random numbers, and OIDs by their columns.
var own = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|test_\d+_\w+|` +
	`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\+\d\d|\\\\x[0-9a-f]+|(?m)^\\(un)?restrict .*$`)

// dumped returns all that pg_dump shows of a database, without what is its own.
func dumped(t *testing.T, url string) string {
	t.Helper()
	conn := server.Connect(t, url)
	const original = `SELECT pgflurry.is_original() AND n.namespace_oid = n.tableoid AND n.claim = w.owner
			AND n.born = pg_postmaster_start_time() AND n.database_name = w.node AND w.node = current_database()
		FROM pgflurry.namespace AS n JOIN pgflurry.worker AS w ON w.worker = n.function_worker`
	if !server.Value[bool](t, conn, original) {
		t.Errorf("%s is no original", url)
	}
	server.Do(t, conn, "UPDATE pgflurry.namespace SET database_oid = 0, namespace_oid = 0, worker_oid = 0")
	out, err := exec.Command(server.Tool(t, "pg_dump"), url).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return own.ReplaceAllString(string(out), "OWN")
}

func TestAMigratedDatabaseIsAsMigrateLeavesIt(t *testing.T) {
	copied, migrated := server.Migrated(t), server.Database(t)
	server.Migrate(t, migrated, migrations.Settings{})
	const id = "SELECT id::text FROM pgflurry.namespace"
	one := server.Value[string](t, server.Connect(t, copied), id)
	if one == server.Value[string](t, server.Connect(t, server.Migrated(t)), id) {
		t.Error("two databases are one namespace")
	}
	left, right := strings.Split(dumped(t, copied), "\n"), strings.Split(dumped(t, migrated), "\n")
	if len(left) < 1000 || len(left) != len(right) {
		t.Fatalf("pg_dump writes %d lines of the copy, and %d of a migrated one", len(left), len(right))
	}
	for i := range left {
		if left[i] != right[i] {
			t.Errorf("line %d of the dump is\n%s\nwhere Migrate leaves\n%s", i+1, left[i], right[i])
		}
	}
}
