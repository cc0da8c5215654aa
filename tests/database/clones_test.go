package database

import (
	"strings"
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// cloned makes schema Tenant-1 as tools for tenants do: public's functions, with the other schema in their texts.
const cloned = `CREATE SCHEMA "Tenant-1"; GRANT USAGE ON SCHEMA "Tenant-1" TO PUBLIC; DO $$ BEGIN
	EXECUTE replace(pg_get_functiondef('public.next_snowflake()'::regprocedure), 'public.', '"Tenant-1".');
	EXECUTE replace(pg_get_functiondef('public.next_snowflakes(bigint)'::regprocedure), 'public.', '"Tenant-1".');
END $$`

func TestClonesOfTheFunctionInSchemasOfTenantsGetAFreshWorkerToo(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	run(t, conn, cloned+`; CREATE TABLE "Tenant-1".item (id bigint PRIMARY KEY DEFAULT "Tenant-1".next_snowflake());
		CREATE SCHEMA other; CREATE FUNCTION other.next_snowflake() RETURNS bigint LANGUAGE sql AS 'SELECT 42::bigint'`)
	before := value[int64](t, conn, `INSERT INTO "Tenant-1".item DEFAULT VALUES RETURNING id`)
	up(t, url, migrations.Settings{FreshWorker: true})
	after := value[int64](t, conn, `INSERT INTO "Tenant-1".item DEFAULT VALUES RETURNING id`)
	if worker := value[int](t, conn, "SELECT function_worker FROM pgflurry.namespace"); int(after>>12&1023) != worker ||
		before>>12&1023 == after>>12&1023 {
		t.Errorf("the clone gave %d, then %d; the worker is now %d", before, after, worker)
	}
	if other := value[int](t, conn, "SELECT other.next_snowflake()"); other != 42 {
		t.Errorf("a function of the user's own gives %d; expected 42", other)
	}
}

func TestStatusListsACloneWithAnotherWorker(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	run(t, conn, cloned+`; DO $$ BEGIN EXECUTE replace(
		pg_get_functiondef('"Tenant-1".next_snowflake()'::regprocedure), 'uuid, 0)', 'uuid, 7)'); END $$`)
	differ := func() (names []string) {
		t.Helper()
		state, err := migrations.Status(within(t), url)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range state.Functions {
			names = append(names, f.Name+" "+f.State)
		}
		return names
	}
	const expected = `"Tenant-1".next_snowflake() changed`
	if said := strings.Join(differ(), ", "); said != expected {
		t.Errorf("status lists %q; expected %q", said, expected)
	}
	up(t, url, migrations.Settings{})
	if said := differ(); len(said) > 0 {
		t.Errorf("after up status lists %q; expected nothing", said)
	}
	if err := down(t, url); err == nil || !strings.Contains(err.Error(), `function "Tenant-1".next_snowflake()`) {
		t.Errorf("down with a clone: %v; expected its name", err)
	}
}

// They call ours, or name what ours has in its text.
func TestFunctionsOfTheUsersOwnWithOurNamesStayAsTheyAre(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	run(t, conn, `CREATE SCHEMA app;
		CREATE FUNCTION app.next_snowflake() RETURNS bigint LANGUAGE sql
			AS 'SELECT -public.next_snowflake() /* see pgflurry.lane */';
		CREATE FUNCTION app.next_snowflakes(how_many bigint) RETURNS SETOF bigint LANGUAGE sql
			AS 'SELECT public.next_snowflake() FROM generate_series(1, how_many)'`)
	const definitions = `SELECT string_agg(pg_get_functiondef(oid), '' ORDER BY oid) FROM pg_proc
		WHERE pronamespace = 'app'::regnamespace`
	before := value[string](t, conn, definitions)
	up(t, url, migrations.Settings{FreshWorker: true})
	if after := value[string](t, conn, definitions); after != before {
		t.Errorf("up has changed functions of the user's own:\n%s\nthey were:\n%s", after, before)
	}
	if state, err := migrations.Status(within(t), url); err != nil || len(state.Functions) > 0 {
		t.Errorf("status lists %v (%v); expected nothing", state.Functions, err)
	}
}
