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

func TestStatusListsAClonedFunctionThatIsNotAsInPublic(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	run(t, conn, cloned)
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
	const expected = `"Tenant-1".next_snowflakes(bigint) changed`
	if said := strings.Join(differ(), ", "); said != expected { // it calls its own schema's
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
