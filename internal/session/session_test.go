package session_test

import (
	"fmt"
	"slices"
	"testing"

	"pgflurry/internal/session"
	"pgflurry/tests/support/server"
)

func TestMain(m *testing.M) { server.Main(m) }

func TestNoTimeoutOfADatabaseEndsAMigration(t *testing.T) {
	url := server.Database(t)
	conn := server.Connect(t, url)
	// This finds timeouts that a later version of PostgreSQL adds. Those of the network and of replication do not end
	// statements.
	const timeouts = `SELECT name FROM pg_settings WHERE name LIKE '%\_timeout' AND context = 'user'
		AND name NOT LIKE 'wal\_%' AND name <> 'tcp_user_timeout' ORDER BY 1`
	names := server.Values[string](t, conn, timeouts)
	if !slices.Contains(names, "statement_timeout") {
		t.Fatalf("the server's timeouts are %q", names)
	}
	for _, name := range names {
		server.Do(t, conn, fmt.Sprintf("ALTER DATABASE %s SET %s = '1h'", server.Name(t, url), name))
	}
	open := server.Connect(t, url)
	const set = "SELECT current_setting($1)"
	for _, name := range names {
		if value := server.Value[string](t, open, set, name); value != "1h" {
			t.Fatalf("%s is %s in the database", name, value)
		}
	}
	server.Do(t, open, session.SQL)
	for _, name := range names {
		if value := server.Value[string](t, open, set, name); value != "0" {
			t.Errorf("%s is %s for a migration, expected none", name, value)
		}
	}
}
