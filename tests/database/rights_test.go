package database

import (
	"slices"
	"strings"
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

func TestAPlainRoleCanDrawAndDamageNothing(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, role(t, url, "plain_role"))
	run(t, conn, "SELECT next_snowflake(), snowflake_parts(next_snowflake()); SELECT * FROM next_snowflakes(3)")
	for _, statement := range []string{
		"SELECT nextval('pgflurry.lane')",
		"SELECT setval('pgflurry.lane', 1)",
		"SELECT setval('pgflurry.mark', 1)",
		"ALTER SEQUENCE pgflurry.lane RESTART",
		"DROP SEQUENCE pgflurry.lane",
		"SELECT pgflurry.advance(1)",
		"SELECT pgflurry.advance_slowly(1)",
		"CALL pgflurry.install_next_snowflake()",
		"UPDATE pgflurry.worker SET reserved_until = 1",
		"UPDATE pgflurry.namespace SET function_worker = 1",
		"INSERT INTO pgflurry.worker (worker, kind) VALUES (1, 'proxy')",
		"BEGIN; LOCK TABLE pgflurry.function_lock IN ACCESS SHARE MODE",
		"CREATE OR REPLACE FUNCTION public.next_snowflake() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'",
		"DROP FUNCTION public.next_snowflake()",
	} {
		refused(t, conn, "42501", statement)
	}
}

func TestRevokedFromPublicItStaysRevokedAfterAnotherUp(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	server.Exec(t, url, "REVOKE EXECUTE ON FUNCTION public.next_snowflake() FROM PUBLIC")
	up(t, url, migrations.Settings{})
	conn := server.Connect(t, role(t, url, "stranger"))
	refused(t, conn, "42501", "SELECT next_snowflake()")
	refused(t, conn, "42501", "SELECT * FROM next_snowflakes(2)")
}

func TestAHostileSearchPathChangesNothing(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	for _, path := range server.Hostile(t, conn) {
		run(t, conn, "SET search_path = "+path)
		run(t, conn, `SELECT public.next_snowflake() FROM generate_series(1, 300);
			SELECT * FROM public.next_snowflakes(5);
			SELECT public.snowflake_time(1), public.snowflake_worker(1), public.snowflake_sequence(1),
				public.snowflake_parts(1);
			SELECT public.snowflake_floor(pg_catalog.now()), public.snowflake_ceil(pg_catalog.now());
			SELECT pgflurry.ticks(pg_catalog.now()), pgflurry.ticks_of('1 s'), pgflurry.wal_timeline(),
				pgflurry.system_identifier()`)
	}
	server.Exec(t, url,
		"ALTER ROLE CURRENT_USER IN DATABASE "+row(t, url).Database+" SET search_path = hostile, pg_catalog, public")
	up(t, url, migrations.Settings{}) // installs the functions anew in a session with that search_path
	row(t, url)
	conn = server.Connect(t, url)
	run(t, conn, "SELECT public.next_snowflake() FROM generate_series(1, 300)")
}

func TestARoleThatKeepsLeasesMayDoThatAndNoMore(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	leaser := role(t, url, "keeps_leases")
	server.Exec(t, url, "CALL pgflurry.grant_lease('keeps_leases')")
	conn := server.Connect(t, leaser)
	run(t, conn, `UPDATE pgflurry.leasable_worker SET owner = gen_random_uuid(), term = term + 1, reserved_until = 5,
		released_at = NULL, node = 'n', address = 'a',
			version = 'v', acquired_at = now(), renewed_at = now() WHERE worker = 99;
		UPDATE pgflurry.namespace SET acquire_after = 5, timeline = timeline;
		UPDATE pgflurry.segment SET max_id = max_id + 1, update_time = now();
		SELECT FROM pgflurry.leasable_worker WHERE worker = 99 FOR UPDATE`)
	for _, statement := range []string{
		"UPDATE pgflurry.worker SET node = 'n' WHERE worker = 99", // a right to change a row is a right to lock it
		"UPDATE pgflurry.leasable_worker SET retired_at = now() WHERE worker = 99",
		"UPDATE pgflurry.leasable_worker SET kind = 'database' WHERE worker = 99",
		"UPDATE pgflurry.worker SET owner = gen_random_uuid(), term = 2 WHERE worker = 0",
		"UPDATE pgflurry.namespace SET function_worker = 1",
		"UPDATE pgflurry.namespace SET database_oid = 1",
		"UPDATE pgflurry.namespace SET joins_complete_on = 'x'",
		"UPDATE pgflurry.segment SET step = 5",
		"SELECT setval('pgflurry.mark', 1)",
	} {
		refused(t, conn, "42501", statement)
	}
}

func TestWhoMayWriteAllDataSetsSequencesAndChangesNothingThatSaysWhichDatabaseThisIs(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	writer := role(t, url, "writes_all")
	server.Exec(t, url, "GRANT pg_write_all_data, pg_read_all_data TO writes_all")
	conn := server.Connect(t, writer)
	for _, statement := range []string{
		"UPDATE pgflurry.namespace SET function_worker = 1",
		"UPDATE pgflurry.namespace SET id = gen_random_uuid()",
		"UPDATE pgflurry.namespace SET database_oid = 1, namespace_oid = 1",
		"UPDATE pgflurry.worker SET retired_at = now() WHERE worker = 99",
		"UPDATE pgflurry.worker SET owner = gen_random_uuid(), term = 2 WHERE worker = 0",
	} {
		refused(t, conn, "42501", statement)
	}
	run(t, conn, "UPDATE pgflurry.namespace SET acquire_after = 5")
	// no guard can take this right away: docs/uniqueness.md says so, and status names the role
	if state, err := migrations.Status(within(t), url); err != nil ||
		!slices.Equal(state.Drawers, []string{"writes_all"}) {
		t.Errorf("status names %q, %v", state.Drawers, err)
	}
	run(t, conn, "SELECT setval('pgflurry.mark', 1)")
}

func TestGuardsRefuseToForgetIDs(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	run(t, conn, `UPDATE pgflurry.worker SET reserved_until = 100, term = 3, owner = gen_random_uuid()
			WHERE worker = 20; UPDATE pgflurry.namespace SET generation = 3`)
	for _, statement := range []string{
		"UPDATE pgflurry.worker SET reserved_until = 99 WHERE worker = 20",
		"UPDATE pgflurry.worker SET term = 2 WHERE worker = 20",
		"UPDATE pgflurry.worker SET kind = 'database' WHERE worker = 20",
		"DELETE FROM pgflurry.worker WHERE worker = 20",
		"TRUNCATE pgflurry.worker",
		"UPDATE pgflurry.namespace SET sequence_bits = 11",
		"UPDATE pgflurry.namespace SET epoch = now()",
		"UPDATE pgflurry.namespace SET generation = 2",
		"DELETE FROM pgflurry.namespace",
		"TRUNCATE pgflurry.namespace",
	} {
		if said := refused(t, conn, "23001", statement); said.Hint == "" {
			t.Errorf("%s: no hint", statement)
		}
	}
	// A session of a client that looks like a subscription once lost its writes in silence.
	run(t, conn, "SET session_replication_role = replica")
	for _, statement := range []string{
		"UPDATE pgflurry.namespace SET acquire_after = 5", "UPDATE pgflurry.namespace SET sequence_bits = 11",
		"UPDATE pgflurry.worker SET node = 'n' WHERE worker = 20",
		"UPDATE pgflurry.worker SET reserved_until = 99 WHERE worker = 20",
	} {
		if said := refused(t, conn, "55000", statement); !strings.Contains(said.Hint, "origin") {
			t.Errorf("%s: the hint is %q", statement, said.Hint)
		}
	}
	for _, statement := range []string{"DELETE FROM pgflurry.worker", "TRUNCATE pgflurry.namespace"} {
		refused(t, conn, "23001", statement)
	}
	run(t, conn, "RESET session_replication_role")
	refused(t, conn, "23514", "UPDATE pgflurry.namespace SET quarantine = '61 s'")
	// sums with it would overflow
	refused(t, conn, "23514", "UPDATE pgflurry.worker SET reserved_until = 9223372036854775807 WHERE worker = 20")
	refused(t, conn, "23505", "INSERT INTO pgflurry.namespace SELECT * FROM pgflurry.namespace")
}

func TestEveryThingInTheSchemaHasAComment(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	for _, bare := range values[string](t, conn, `
		SELECT 'relation ' || c.relname FROM pg_class c WHERE c.relnamespace = 'pgflurry'::regnamespace
			AND c.relkind IN ('r', 'S', 'v')
			AND c.relname <> 'migration_id_seq' AND obj_description(c.oid, 'pg_class') IS NULL
		UNION ALL
		SELECT 'column ' || c.relname || '.' || a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
			WHERE c.relnamespace = 'pgflurry'::regnamespace AND c.relkind = 'r' AND a.attnum > 0
				AND col_description(c.oid, a.attnum) IS NULL
		UNION ALL
		SELECT 'function ' || p.oid::regprocedure FROM pg_proc p
			WHERE p.pronamespace IN ('pgflurry'::regnamespace, 'public'::regnamespace)
				AND obj_description(p.oid, 'pg_proc') IS NULL`) {
		t.Errorf("%s has no comment", bare)
	}
}
