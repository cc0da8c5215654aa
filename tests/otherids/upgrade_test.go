package otherids_test

import (
	_ "embed"
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// afterMigration2 is what "migrate print" wrote when there were two migrations, and no other way than snowflakes.
//
//go:embed testdata/after_migration_2.sql
var afterMigration2 string

func TestAnInstallationWithTwoMigrationsBecomesOneWithAllOfThem(t *testing.T) {
	url := server.Database(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, "BEGIN;"+afterMigration2+"COMMIT")
	server.Do(t, conn, `CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY, at timestamptz GENERATED ALWAYS AS (snowflake_time(id)) STORED);
		CREATE INDEX ON item (snowflake_worker(id)); INSERT INTO item DEFAULT VALUES;
		CREATE FUNCTION public.unlock(door text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
		REVOKE EXECUTE ON FUNCTION public.snowflake_ceil(timestamptz) FROM PUBLIC`)
	before := server.Value[int64](t, conn, "SELECT max(id) FROM item")
	state, err := migrations.Status(server.Within(t), url)
	if err != nil || !state.Pending() {
		t.Errorf("status before: %+v, %v", state, err)
	}
	if err := migrations.Up(server.Within(t), url, migrations.Settings{}); err != nil {
		t.Fatalf("%v (%s)", err, server.Hint(err))
	}
	state, err = migrations.Status(server.Within(t), url)
	if err != nil || !state.InPlace() || len(state.Kept) != 1 || state.Kept[0].Name != "unlock" {
		t.Errorf("status after: %+v, %v", state, err)
	}
	server.Do(t, conn, "INSERT INTO item DEFAULT VALUES; INSERT INTO pgflurry.auto_increment (name) VALUES ('a')")
	if after := server.Value[int64](t, conn, "SELECT max(id) FROM item"); after <= before {
		t.Errorf("ID %d follows %d", after, before)
	}
	plain := server.Connect(t, server.Role(t, url, "plain_upgraded"))
	server.Do(t, plain, "SELECT next_auto_increment('a'), incr('a'), try_lock('a', 'me', '1 s'), pgflurry.unlock('a', 'me'), unlock('mine')")
	server.Refused(t, plain, "42501", "SELECT snowflake_ceil(now())") // what was revoked stays revoked
	server.Do(t, conn, "DROP TABLE item; DELETE FROM pgflurry.auto_increment; DELETE FROM pgflurry.counter; SELECT setval('pgflurry.mark', 0)")
	if removed, err := migrations.Down(server.Within(t), url, false); !removed || err != nil {
		t.Errorf("down: %v, %v (%s)", removed, err, server.Hint(err))
	}
	if left := server.Values[string](t, conn, bodies); len(left) != 1 {
		t.Errorf("public holds %q, want the one function that is not pgflurry's", left)
	}
}

func TestDownSaysWhichTablesAreInUseAndRemovesNothing(t *testing.T) {
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, `INSERT INTO pgflurry.auto_increment (name) VALUES ('a'); SELECT next_replace_id('a'), incr('a'), incr('b'), issue_token('1 hour'), try_lock('a', 'me', '1 hour'), try_lock('b', 'me', '1 hour'), unlock('b', 'me')`)
	server.Do(t, conn, "SELECT setval('pgflurry.mark', 0)")
	_, err := migrations.Down(server.Within(t), url, false)
	server.Says(t, err, "auto_increment (1), replace_sequence (1), counter (2), token (1), lock (1)", "would begin anew", "Delete the rows first")
	server.Do(t, conn, "SELECT incr('a')")
	server.Do(t, conn, "DELETE FROM pgflurry.auto_increment; DELETE FROM pgflurry.replace_sequence; DELETE FROM pgflurry.counter; UPDATE pgflurry.token SET expires_at = now(); SELECT unlock('a', 'me')")
	if _, err := migrations.Down(server.Within(t), url, false); err != nil {
		t.Errorf("%v (%s)", err, server.Hint(err))
	}
}

func TestDownNamesWhatSomebodyElsePutIntoTheSchemaAndRemovesNothing(t *testing.T) {
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, "CREATE TABLE pgflurry.mine (n int); CREATE FUNCTION pgflurry.my_own() RETURNS int LANGUAGE sql RETURN 1; SELECT setval('pgflurry.mark', 0)")
	removed, err := migrations.Down(server.Within(t), url, false)
	server.Says(t, err, "schema pgflurry holds 2 objects that are not pgflurry's", "table pgflurry.mine", "function pgflurry.my_own()", "another schema")
	if removed {
		t.Error("down has removed something")
	}
	server.Do(t, conn, "SELECT next_snowflake(), incr('a'); DELETE FROM pgflurry.counter; ALTER TABLE pgflurry.mine SET SCHEMA public; DROP FUNCTION pgflurry.my_own()")
	server.Do(t, conn, "SELECT setval('pgflurry.mark', 0)")
	if removed, err := migrations.Down(server.Within(t), url, false); !removed || err != nil {
		t.Errorf("down: %v, %v (%s)", removed, err, server.Hint(err))
	}
	server.Do(t, conn, "SELECT FROM mine")
}

func TestTheLifetimeOfALayoutIsComputedAndWarnedAbout(t *testing.T) {
	conn := server.Connect(t, server.Migrated(t))
	if years := server.Value[string](t, conn, "SELECT pgflurry.layout_years(41)::text"); years != "69.7" {
		t.Errorf("41 bits of milliseconds are %s years, want 69.7", years)
	}
	is := server.Value[string](t, conn, `SELECT concat_ws(' ', begins AT TIME ZONE 'UTC', ends AT TIME ZONE 'UTC', years, years_left = round(extract(epoch FROM ends - clock_timestamp()) / 31556952, 1), warning IS NULL)
		FROM pgflurry.snowflake_lifetime()`)
	if is != "2024-01-01 00:00:00 2093-09-06 15:47:35.552 69.7 t t" {
		t.Errorf("the default layout lasts %s", is)
	}
	short := server.Connect(t, server.MigratedWith(t, migrations.Settings{Layout: "28/0/10/12", Unit: 500_000_000}))
	if warning := server.Value[string](t, short, "SELECT coalesce(warning, 'none: ' || years_left) FROM pgflurry.snowflake_lifetime()"); warning != "The layout ends on 2028-04-02 10:42:08+00. Plan a new namespace." {
		t.Errorf("a layout of 4.3 years says: %s", warning)
	}
}
