package database

import (
	"fmt"
	"strings"
	"testing"

	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// calls has a valid call of each function that every role may call.
const calls = `SELECT next_auto_increment('a'), next_replace_id('a'), incr('a'), incrby('a', 2), get_counter('a'),
	set_counter('a', 1), set_counter('a', '1'),
	uuidv4(), uuidv7(), uuidv7_time(uuidv7()), snowflake_text(next_snowflake(), 19), redeem_token(issue_token('1 s')),
	try_lock('a', 'me', '1 s'), renew_lock('a', 'me', '1 s'), unlock('a', 'me'), pgflurry.clean_tokens(),
		pgflurry.clean_locks(),
	pgflurry.layout_years(41), snowflake_settled(),
		(pgflurry.snowflake_lifetime()).years_left, (pgflurry.snowflake_clock()).waits`

func TestARoleWithNothingButExecuteCanUseEveryWayAndDamageNothing(t *testing.T) {
	t.Parallel()
	url := withAllNames(t)
	owner := server.Connect(t, url)
	server.Do(t, owner, "INSERT INTO pgflurry.auto_increment (name) VALUES ('a'); "+
		"SELECT pgflurry.create_offset_sequences('ticket', 2); CREATE TABLE item (id bigserial PRIMARY KEY)")
	plain := server.Connect(t, server.Role(t, url, "plain_ways"))
	server.Do(t, plain, calls)
	server.Do(t, plain,
		"SELECT pgflurry.next_auto_increment('a'), pgflurry.incr('a'), pgflurry.try_lock('a', 'me', '1 s')")
	for _, table := range server.Values[string](t, owner, "SELECT oid::regclass::text FROM pg_class "+
		"WHERE relnamespace = 'pgflurry'::regnamespace AND relkind = 'r'") {
		for _, statement := range []string{
			"SELECT FROM %", "INSERT INTO % DEFAULT VALUES", "DELETE FROM %", "TRUNCATE %", "DROP TABLE %",
			"ALTER TABLE % ADD COLUMN x int", "BEGIN; LOCK TABLE % IN ACCESS SHARE MODE",
		} {
			server.Refused(t, plain, "42501", strings.ReplaceAll(statement, "%", table))
		}
	}
	for _, view := range server.Values[string](t, owner, "SELECT oid::regclass::text FROM pg_class "+
		"WHERE relnamespace = 'pgflurry'::regnamespace AND relkind = 'v'") {
		for _, statement := range []string{
			"SELECT FROM %", "DROP VIEW %", "ALTER VIEW % RENAME TO x", "CREATE OR REPLACE VIEW % AS SELECT 2 AS x",
			"BEGIN; LOCK TABLE % IN ACCESS SHARE MODE", "BEGIN; LOCK TABLE % IN SHARE UPDATE EXCLUSIVE MODE",
		} {
			server.Refused(t, plain, "42501", strings.ReplaceAll(statement, "%", view))
		}
	}
	for _, sequence := range server.Values[string](t, owner,
		"SELECT oid::regclass::text FROM pg_class WHERE relkind = 'S'") {
		statements := []string{
			"SELECT nextval('%')", "SELECT setval('%', 1)", "ALTER SEQUENCE % RESTART", "DROP SEQUENCE %",
		}
		if sequence != "pgflurry.lane" && sequence != "pgflurry.shown" { // lastval() reads them
			statements = append(statements, "SELECT last_value FROM %")
		}
		for _, statement := range statements {
			server.Refused(t, plain, "42501", strings.ReplaceAll(statement, "%", sequence))
		}
	}
	for _, statement := range []string{
		"SELECT pgflurry.add_to_counter('incr', 'a', 1)", "SELECT pgflurry.create_offset_sequences('other', 2)",
		"SELECT pgflurry.replan_offset_sequences('ticket', 3)",
		"SELECT pgflurry.convert_to_snowflake('item')", "SELECT pgflurry.convert_to_sequence('item')",
		"CALL pgflurry.install_aliases()", "CALL pgflurry.drop_public()",
		"CREATE FUNCTION pgflurry.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP FUNCTION public.incr(text)",
	} {
		server.Refused(t, plain, "42501", statement)
	}
	n := server.Value[int](t, owner,
		"SELECT count(*) FROM pg_sequences WHERE sequencename LIKE 'ticket%' AND increment_by = 2")
	if n != 2 {
		t.Errorf("%d sequences are as they were, want 2", n)
	}
}

func TestWhatIsRevokedFromAFunctionIsRevokedFromItsAliasAndStaysSoAfterAnotherUp(t *testing.T) {
	t.Parallel()
	url := withAllNames(t)
	server.Exec(t, url, "REVOKE EXECUTE ON FUNCTION pgflurry.incr(text), public.unlock(text, text) FROM PUBLIC; "+
		"REVOKE USAGE ON SCHEMA pgflurry FROM PUBLIC")
	if err := migrations.Up(server.Within(t), url, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	plain := server.Connect(t, server.Role(t, url, "plain_revoked"))
	for _, call := range []string{"incr('a')", "pgflurry.incr('a')", "unlock('a', 'me')", "pgflurry.incrby('a', 1)"} {
		server.Refused(t, plain, "42501", "SELECT "+call)
	}
}

func TestEveryFunctionThatUsesTheOwnersRightsHasASafeSearchPath(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, withAllNames(t))
	for _, open := range server.Values[string](t, conn, `SELECT oid::regprocedure::text FROM pg_proc
		WHERE pronamespace IN ('pgflurry'::regnamespace, 'public'::regnamespace) AND prosecdef
		  AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (proconfig), false)`) {
		switch open {
		case "next_snowflake()", "pgflurry.next_segment(text)", "pgflurry.next_segments(text,bigint)":
			// these qualify everything with its schema
		default:
			t.Errorf("%s is SECURITY DEFINER and takes the search_path of its caller", open)
		}
	}
}

func TestAHostileSearchPathChangesNoWay(t *testing.T) {
	t.Parallel()
	url := withAllNames(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, `INSERT INTO pgflurry.auto_increment (name) VALUES ('a');
		CREATE SCHEMA hostile; CREATE DOMAIN hostile.text AS integer; CREATE DOMAIN hostile.interval AS integer;
		CREATE DOMAIN hostile.int8 AS pg_catalog.text; CREATE DOMAIN hostile.uuid AS integer`)
	for _, name := range []string{
		"length(pg_catalog.text)", "clock_timestamp()", "int8send(bigint)", "uuid_send(pg_catalog.uuid)",
		"gen_random_uuid()", "format(pg_catalog.text, pg_catalog.text)", "current_schema()",
	} {
		server.Do(t, conn,
			"CREATE FUNCTION hostile."+name+" RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RAISE 'hostile'; END $$")
	}
	for _, operator := range []string{"=", "<", ">", "<=", ">=", "<>", "+", "-", "||", "!~"} {
		for i, left := range []string{
			"pg_catalog.int8", "pg_catalog.text", "pg_catalog.timestamptz", "pg_catalog.interval", "integer",
		} {
			server.Do(t, conn, fmt.Sprintf("CREATE OR REPLACE FUNCTION hostile.refuse%[1]d(%[2]s, %[2]s) "+
				"RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'hostile'; END $$;"+
				"CREATE OPERATOR hostile.%[3]s (LEFTARG = %[2]s, RIGHTARG = %[2]s, FUNCTION = hostile.refuse%[1]d)", i,
				left, operator))
		}
	}
	server.Do(t, conn, "SET search_path = hostile, pg_catalog, public")
	server.Do(t, conn, calls)
	server.Do(t, conn, "SELECT pgflurry.create_offset_sequences('public.ticket', 3); "+
		"SELECT pgflurry.replan_offset_sequences('public.ticket', 4)")
	server.Do(t, conn, "CREATE TABLE public.item (id bigserial PRIMARY KEY); "+
		"SELECT pgflurry.convert_to_snowflake('public.item'); SELECT pgflurry.convert_to_sequence('public.item')")
}

func TestAFunctionThatSomebodyElsePutInTheWayBeforehandIsForeignEvenWithOurTextInIt(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	conn, other := server.Connect(t, url), server.Role(t, url, "early_bird")
	server.Do(t, conn, "GRANT CREATE ON SCHEMA public TO early_bird")
	server.Exec(t, other,
		"CREATE FUNCTION public.next_snowflake() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint /* pgflurry.lane */'")
	server.Says(t, migrations.Up(server.Within(t), url, migrations.Settings{}),
		"there is a function public.next_snowflake() already, and it is not pgflurry's", "Role early_bird owns it")
	if _, err := migrations.Down(server.Within(t), url, false); err != nil {
		t.Error(err)
	}
	if n := server.Value[int](t, conn, "SELECT count(*) FROM pg_proc WHERE proname = 'next_snowflake'"); n != 1 {
		t.Error("down has dropped a function of somebody else's")
	}
	server.Do(t, conn, "DROP FUNCTION public.next_snowflake()")
	if err := migrations.Up(server.Within(t), url, migrations.Settings{}); err != nil {
		t.Errorf("%v (%s)", err, server.Hint(err))
	}
}

func TestDefaultPrivilegesOfTheOwnerLetNobodyDrawFromTheSequencesOrSetThem(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	conn, app := server.Connect(t, url), server.Role(t, url, "app_by_default")
	server.Do(t, conn, "ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO app_by_default; "+
		"ALTER DEFAULT PRIVILEGES GRANT USAGE ON SEQUENCES TO PUBLIC")
	if err := migrations.Up(server.Within(t), url, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	plain := server.Connect(t, app)
	for _, sequence := range server.Values[string](t, conn,
		"SELECT oid::regclass::text FROM pg_class WHERE relkind = 'S'") {
		server.Refused(t, plain, "42501", "SELECT nextval('"+sequence+"')")
		server.Refused(t, plain, "42501", "SELECT setval('"+sequence+"', 1)")
	}
	server.Do(t, plain, "SELECT next_snowflake(), pgflurry.next_replace_id('a')")
}

func TestSettingsThatChangeHowTextIsWrittenChangeNoWay(t *testing.T) {
	t.Parallel()
	url := withAllNames(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, `DO $$ BEGIN
		EXECUTE format('ALTER DATABASE %I SET quote_all_identifiers = on', current_database());
		EXECUTE format('ALTER DATABASE %I SET standard_conforming_strings = off', current_database());
		EXECUTE format('ALTER DATABASE %I SET plpgsql.extra_errors = ''all''', current_database()); END $$`)
	conn = server.Connect(t, url)
	server.Do(t, conn, "CREATE TABLE item (id bigserial); SELECT pgflurry.convert_to_snowflake('item'); "+
		"SELECT pgflurry.convert_to_snowflake('item'); SELECT pgflurry.convert_to_sequence('item')")
	if n := server.Value[int](t, conn, "SELECT count(*) FROM pgflurry.kept_names()"); n != 0 {
		t.Errorf("%d aliases are not known as pgflurry's own", n)
	}
	server.Do(t, conn, "DROP TABLE item; SELECT setval('pgflurry.mark', 0)")
	if err := migrations.Up(server.Within(t), url, migrations.Settings{}); err != nil {
		t.Errorf("%v (%s)", err, server.Hint(err))
	}
	if removed, err := migrations.Down(server.Within(t), url, false); !removed || err != nil {
		t.Errorf("down: %v, %v", removed, err)
	}
	if left := server.Values[string](t, conn, bodies); len(left) > 0 {
		t.Errorf("down leaves %q", left)
	}
	if err := migrations.Up(server.Within(t), url, migrations.Settings{}); err != nil {
		t.Errorf("%v (%s)", err, server.Hint(err))
	}
}

func TestAnAliasThatSomebodyElseMadeIsNotPgflurrysOwn(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	conn, other := server.Connect(t, url), server.Role(t, url, "alias_maker")
	server.Do(t, conn, "GRANT CREATE ON SCHEMA public TO alias_maker; CREATE SCHEMA app; "+
		"CREATE FUNCTION app.incr(varchar) RETURNS int LANGUAGE sql AS 'SELECT 1'")
	up := func() {
		t.Helper()
		if err := migrations.Up(server.Within(t), url, allNames); err != nil {
			t.Fatalf("%v (%s)", err, server.Hint(err))
		}
	}
	up()
	server.Exec(t, other, "CREATE FUNCTION public.incr(key text) RETURNS bigint LANGUAGE sql RETURN pgflurry.incr(key)")
	server.Do(t, conn, "DROP FUNCTION app.incr(varchar)")
	up()
	if kept := server.Values[string](t, conn, "SELECT other FROM pgflurry.kept_names()"); len(kept) != 1 ||
		kept[0] != "incr(text)" && kept[0] != "public.incr(text)" {
		t.Errorf("kept is %q, want the function of the other role", kept)
	}
	server.Do(t, conn, "DROP FUNCTION public.incr(text)")
	up()
	const sameOwner = `SELECT proowner = (SELECT nspowner FROM pg_namespace WHERE nspname = 'pgflurry')
		FROM pg_proc WHERE oid = 'public.incr(text)'::regprocedure`
	if !server.Value[bool](t, conn, sameOwner) {
		t.Error("the alias belongs to somebody else")
	}
}
