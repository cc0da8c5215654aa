package database

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// family are the functions that live in public, with bodies of their own.
var family = []string{
	"next_snowflake() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'",
	"next_snowflakes(n bigint) RETURNS SETOF bigint LANGUAGE sql AS 'SELECT n'",
	"snowflake_time(id bigint) RETURNS timestamptz LANGUAGE sql AS 'SELECT now()'",
	"snowflake_worker(id bigint) RETURNS integer LANGUAGE sql AS 'SELECT 1'",
	"snowflake_sequence(id bigint) RETURNS integer LANGUAGE sql AS 'SELECT 1'",
	`snowflake_parts(id bigint, OUT "time" timestamptz, OUT datacenter integer, OUT worker integer,
		OUT sequence integer) LANGUAGE sql AS 'SELECT now(), 1, 1, 1'`,
	"snowflake_floor(at timestamptz) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'",
	"snowflake_ceil(at timestamptz) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'",
}

const bodies = "SELECT oid::regprocedure || prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1"

func TestMigrationInvariant2UpNeverOverwritesAFunctionOfTheFamilyThatIsNotItsOwnNorDoesDownDropIt(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	conn := server.Connect(t, url)
	for _, function := range family {
		server.Do(t, conn, "CREATE FUNCTION public."+function)
		server.Says(t, migrations.Up(server.Within(t), url, migrations.Settings{}),
			"there is a function public."+function[:5], "already, and it is not pgflurry's", "Rename or drop it")
		server.Do(t, conn, "DROP FUNCTION public."+function[:strings.Index(function, "(")])
	}
	for _, function := range family {
		server.Do(t, conn, "CREATE FUNCTION public."+function)
	}
	before := server.Values[string](t, conn, bodies)
	server.Says(t, migrations.Up(server.Within(t), url, migrations.Settings{}), "already")
	if removed, err := migrations.Down(server.Within(t), url, false); removed || err != nil { // Up took it back
		t.Errorf("down after the refusal: %v, %v", removed, err)
	}
	var script bytes.Buffer
	if err := migrations.Print(&script, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	server.Refused(t, conn, "42723", "BEGIN;"+script.String()+"COMMIT")
	if after := server.Values[string](t, conn, bodies); len(after) != len(family) || !slices.Equal(after, before) {
		t.Errorf("public held %q and holds %q", before, after)
	}
}

func TestAFunctionThatReplacedOneOfTheFamilyIsSaidToBeForeignAndSurvivesUpAndDown(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, "CREATE OR REPLACE FUNCTION public."+family[0]+
		"; DROP FUNCTION public.snowflake_ceil(timestamptz); CREATE FUNCTION public."+family[7])
	state, err := migrations.Status(server.Within(t), url)
	want := []migrations.Function{
		{Name: "public.next_snowflake()", State: "foreign"},
		{Name: "public.snowflake_ceil(timestamp with time zone)", State: "foreign"},
	}
	if err != nil || !slices.Equal(state.Functions, want) || state.InPlace() {
		t.Errorf("status: %+v, %v", state.Functions, err)
	}
	server.Says(t, migrations.Up(server.Within(t), url, migrations.Settings{}), "public.next_snowflake() already")
	if _, err := migrations.Down(server.Within(t), url, false); err != nil {
		t.Errorf("%v (%s)", err, server.Hint(err))
	}
	if left := server.Values[string](t, conn, bodies); len(left) != 2 {
		t.Errorf("down leaves %q, want the two foreign functions", left)
	}
}

func TestMigrationInvariant2AnAliasIsOnlyMadeWhereNoOtherFunctionHasTheNameAndUpSaysSo(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, `CREATE FUNCTION public.uuidv7() RETURNS uuid LANGUAGE sql AS 'SELECT gen_random_uuid()';
		CREATE SCHEMA app; CREATE FUNCTION app.snowflake_text(varchar) RETURNS text LANGUAGE sql AS 'SELECT $1'`)
	const definitions = `SELECT pg_get_functiondef(oid) FROM pg_proc
		WHERE proname IN ('uuidv7', 'snowflake_text') AND pronamespace <> 'pg_catalog'::regnamespace`
	before := server.Values[string](t, conn, definitions)
	if err := migrations.Up(server.Within(t), url, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		out, err := exec.CommandContext(server.Within(t), program.Path(t), "namespace", "set", "--functions", "all",
			"--database", url).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, said := range []string{
			"function public.uuidv7 ", "public.uuidv7() is not pgflurry's: call pgflurry.uuidv7",
			"app.snowflake_text(character varying) is not pgflurry's: call pgflurry.snowflake_text",
		} {
			if !bytes.Contains(out, []byte(said)) {
				t.Errorf("up does not say %q:\n%s", said, out)
			}
		}
	}
	server.Do(t, conn, "SELECT pgflurry.uuidv7(), pgflurry.snowflake_text(1, 19), pgflurry.uuidv4()")
	const aliases = `SELECT count(*) FROM pg_proc
		WHERE proname = 'snowflake_text' AND pronamespace = 'public'::regnamespace`
	if n := server.Value[int](t, conn, aliases); n != 0 {
		t.Error("an alias is in the way of app.snowflake_text")
	}
	if _, err := migrations.Down(server.Within(t), url, false); err != nil {
		t.Fatal(err)
	}
	after := server.Values[string](t, conn, definitions)
	if !slices.Equal(after, before) {
		t.Errorf("the functions were %q and are %q", before, after)
	}
}

func TestAnAliasThatWasReplacedIsTheUsersAndOneThatWasDroppedComesBack(t *testing.T) {
	t.Parallel()
	url := withAllNames(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, `CREATE OR REPLACE FUNCTION public.snowflake_text(id bigint, width integer) RETURNS text
		LANGUAGE sql IMMUTABLE STRICT AS 'SELECT ''mine''';
		DROP FUNCTION public.uuidv4()`)
	if err := migrations.Up(server.Within(t), url, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	if said := server.Value[string](t, conn, "SELECT snowflake_text(1, 2)"); said != "mine" {
		t.Errorf("a function of the user's own was overwritten: it says %q", said)
	}
	server.Do(t, conn, "SELECT public.uuidv4()")
	state, err := migrations.Status(server.Within(t), url)
	if err != nil || !state.InPlace() || len(state.Kept) != 1 || state.Kept[0].Name != "snowflake_text" {
		t.Errorf("status: %+v, %v", state, err)
	}
}

func TestAnAliasIsTheSameAsItsFunctionAndCostsNoCall(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, withAllNames(t))
	for _, difference := range server.Values[string](t, conn, `
		SELECT a.oid::regprocedure::text FROM pg_proc AS a JOIN pgflurry.alias_names() AS names (name)
			ON a.proname = names.name
		JOIN pg_proc AS p ON p.proname = a.proname AND p.proargtypes = a.proargtypes
			AND p.pronamespace = 'pgflurry'::regnamespace
		WHERE a.pronamespace = 'public'::regnamespace
		  AND ((a.prorettype, a.proargnames, a.provolatile, a.proisstrict, a.proparallel,
		      pg_get_expr(a.proargdefaults, 0))
		       IS DISTINCT FROM (p.prorettype, p.proargnames, p.provolatile, p.proisstrict, p.proparallel,
		           pg_get_expr(p.proargdefaults, 0))
		    OR a.prosecdef OR obj_description(a.oid, 'pg_proc') NOT LIKE '%' || obj_description(p.oid, 'pg_proc'))`) {
		t.Errorf("%s differs from its function", difference)
	}
	missing := server.Values[string](t, conn, `SELECT name FROM pgflurry.alias_names() AS names (name)
		WHERE NOT EXISTS (SELECT FROM pg_proc WHERE proname = name AND pronamespace = 'public'::regnamespace)`)
	if len(missing) > 0 {
		t.Errorf("aliases are missing: %q", missing)
	}
	for _, silent := range server.Values[string](t, conn, `SELECT p.oid::regprocedure::text FROM pg_proc AS p
		WHERE p.pronamespace = 'pgflurry'::regnamespace AND p.proname NOT IN ('uuidv4', 'uuidv7') -- these have none
		  AND (p.proname IN (SELECT pgflurry.alias_names())
		      OR p.proname ~ '^(clean_|convert_|create_offset|replan_|layout_years)')
		  AND obj_description(p.oid, 'pg_proc') !~ 'Errors: .*(2[2-5]|42|55)[0-9A-Z]{3}'`) {
		t.Errorf("the comment of %s names no SQLSTATE of an error", silent)
	}
	plan := server.Values[string](t, conn, "EXPLAIN (VERBOSE, COSTS OFF) SELECT public.uuidv7()")
	if !slices.Contains(plan, "  Output: pgflurry.uuidv7()") {
		t.Errorf("the planner keeps the alias: %q", plan)
	}
}
