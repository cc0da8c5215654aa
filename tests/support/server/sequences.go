package server

import (
	"os"
	"path/filepath"
	"testing"

	"pgflurry/internal/postgres"
)

// LoseSequences makes pgflurry's unlogged sequences in database postgres unreadable: it writes zeros into their files.
// A promotion does the same on a PostgreSQL that has the bug of sqlfuncs/mend_sequences.sql. LoseSequences stops and
// restarts the server, so all connections end.
func LoseSequences(t testing.TB, cluster *postgres.Cluster) *postgres.Cluster {
	t.Helper()
	files := Values[string](t, Connect(t, cluster.URL("postgres")),
		`SELECT pg_relation_filepath(oid) FROM pg_class
		WHERE relnamespace = 'pgflurry'::regnamespace AND relkind = 'S' AND relpersistence = 'u'`)
	if len(files) == 0 {
		t.Fatal("there are no unlogged sequences")
	}
	Stop(t, cluster)
	for _, file := range files {
		if err := os.WriteFile(filepath.Join(cluster.Data, file), make([]byte, 8<<10), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Again(t, cluster.Data, 0)
}
