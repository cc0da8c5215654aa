package server_test

import (
	"testing"

	"pgflurry/tests/support/server"
)

func TestClustersHaveSystemIdentifiersOfTheirOwnAndSurviveACrash(t *testing.T) {
	const identifier = "SELECT system_identifier FROM pg_control_system()"
	seen := map[int64]bool{server.Value[int64](t, server.Connect(t, server.Database(t)), identifier): true}
	for range 2 {
		cluster := server.Private(t, nil)
		before := server.Value[int64](t, server.Connect(t, cluster.URL("postgres")), identifier)
		server.Exec(t, cluster.URL("postgres"), "CREATE TABLE kept AS SELECT 1 AS n")
		server.Crash(t, cluster)
		again := server.Connect(t, server.Again(t, cluster.Data, 0).URL("postgres"))
		kept := server.Value[int](t, again, "SELECT n FROM kept")
		if server.Value[int64](t, again, identifier) != before || kept != 1 {
			t.Error("after a crash it is another cluster")
		}
		seen[before] = true
	}
	if len(seen) != 3 {
		t.Errorf("three clusters have the identifiers %v", seen)
	}
}
