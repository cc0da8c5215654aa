package database

import (
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

func TestDownSaysWhichTablesAreInUseAndRemovesNothing(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, `INSERT INTO pgflurry.auto_increment (name) VALUES ('a');
		SELECT pgflurry.next_replace_id('a'), pgflurry.incr('a'), pgflurry.incr('b'), pgflurry.issue_token('1 hour'),
		pgflurry.try_lock('a', 'me', '1 hour'), pgflurry.try_lock('b', 'me', '1 hour'), pgflurry.unlock('b', 'me')`)
	server.Do(t, conn, "SELECT setval('pgflurry.mark', 0)")
	_, err := migrations.Down(server.Within(t), url, false)
	server.Says(t, err, "auto_increment (1), replace_sequence (1), counter (2), token (1), lock (1)",
		"would begin anew", "Delete the rows first")
	server.Do(t, conn, "SELECT pgflurry.incr('a')")
	server.Do(t, conn, "DELETE FROM pgflurry.auto_increment; DELETE FROM pgflurry.replace_sequence; "+
		"DELETE FROM pgflurry.counter; UPDATE pgflurry.token SET expires_at = now(); SELECT pgflurry.unlock('a', 'me')")
	if _, err := migrations.Down(server.Within(t), url, false); err != nil {
		t.Errorf("%v (%s)", err, server.Hint(err))
	}
}

func TestDownNamesWhatSomebodyElsePutIntoTheSchemaAndRemovesNothing(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, "CREATE TABLE pgflurry.mine (n int); "+
		"CREATE FUNCTION pgflurry.my_own() RETURNS int LANGUAGE sql RETURN 1; SELECT setval('pgflurry.mark', 0)")
	removed, err := migrations.Down(server.Within(t), url, false)
	server.Says(t, err, "schema pgflurry holds 2 objects that are not pgflurry's", "table pgflurry.mine",
		"function pgflurry.my_own()", "another schema")
	if removed {
		t.Error("down has removed something")
	}
	server.Do(t, conn, "SELECT next_snowflake(), pgflurry.incr('a'); DELETE FROM pgflurry.counter; "+
		"ALTER TABLE pgflurry.mine SET SCHEMA public; DROP FUNCTION pgflurry.my_own()")
	server.Do(t, conn, "SELECT setval('pgflurry.mark', 0)")
	if removed, err := migrations.Down(server.Within(t), url, false); !removed || err != nil {
		t.Errorf("down: %v, %v (%s)", removed, err, server.Hint(err))
	}
	server.Do(t, conn, "SELECT FROM mine")
}
