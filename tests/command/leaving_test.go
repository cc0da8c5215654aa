//go:build full

package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/deeds"
	"pgflurry/tests/support/server"
)

// inUse makes a database in which each kind of obstacle is in the way of "migrate down".
func inUse(t *testing.T) (url string, conn *pgx.Conn) {
	t.Helper()
	url = server.Migrated(t)
	conn = server.Connect(t, url)
	server.Do(t, conn, `CREATE TABLE item (id bigserial PRIMARY KEY, name text);
		INSERT INTO item (name) VALUES ('old');
		SELECT pgflurry.convert_to_snowflake('item');
		CREATE TABLE note (id bigint PRIMARY KEY DEFAULT next_snowflake());
		CREATE VIEW recent AS SELECT id, snowflake_time(id) AS made FROM note;
		INSERT INTO item (name) VALUES ('new');
		INSERT INTO note DEFAULT VALUES;
		INSERT INTO pgflurry.segment (biz_tag) VALUES ('order');
		INSERT INTO pgflurry.auto_increment (name) VALUES ('a');
		INSERT INTO pgflurry.client (name) VALUES ('app');
		SELECT pgflurry.next_replace_id('a'), pgflurry.incr('a'), pgflurry.issue_token('1 hour'),
			pgflurry.try_lock('a', 'me', '1 hour')`)
	return url, conn
}

func TestDownNamesAllThatIsInTheWayAtOnce(t *testing.T) {
	t.Parallel()
	url, conn := inUse(t)
	joined := server.Database(t)
	run(t, "namespace", "join", "--database", joined, "--home", url).is(t, 0)
	// so that it comes before the answer, however slow the machine is
	server.Do(t, conn, "SELECT setval('pgflurry.mark', pgflurry.ticks(clock_timestamp() + interval '1 hour'))")
	run(t, "migrate", "down", "--database", url, "--wait").is(t, 1, "nothing was removed, for 4 reasons",
		"1. these use pgflurry:", "default value for column id of table public.item", "view public.recent",
		"auto_increment (1), replace_sequence (1), counter (1), segment (1), token (1), lock (1), client (1)",
		"other databases have joined", server.Name(t, joined), "4. try again in", "clients remove", "--leave-joined")
	server.Do(t, conn, "INSERT INTO note VALUES (1); SELECT id, made FROM recent; SELECT pgflurry.incr('a')")
}

func TestTheStatementsOfThePageAboutLeavingLeaveNothingButTheRows(t *testing.T) {
	t.Parallel()
	url, conn := inUse(t)
	const rows = `SELECT string_agg(id::text, ' ' ORDER BY id)
		FROM (SELECT id FROM item UNION ALL SELECT id FROM note) AS k`
	const made = "SELECT string_agg(made::text, ' ' ORDER BY id) FROM recent"
	server.Do(t, conn, `CREATE TABLE event (id bigint NOT NULL DEFAULT next_snowflake()) PARTITION BY RANGE (id);
		CREATE TABLE event_rest PARTITION OF event DEFAULT`)
	blocks := deeds.Blocks(t, "../../docs/moving.md", "sql")
	blocks = blocks[slices.IndexFunc(blocks, func(b string) bool { return strings.HasPrefix(b, "SELECT DISTINCT") }):]
	const all = "SELECT string_agg(x::text, ' ' ORDER BY x::text) FROM (%s) AS x"
	got := server.Value[string](t, conn, fmt.Sprintf(all, strings.TrimRight(strings.TrimSpace(blocks[0]), ";")))
	if got != "(event,id) (item,id) (note,id)" {
		t.Errorf("the page lists %s", got)
	}
	server.Do(t, conn, "DROP TABLE event")
	before, times := server.Value[string](t, conn, rows), server.Value[string](t, conn, made)
	for _, block := range blocks {
		server.Do(t, conn, block)
	}
	run(t, "migrate", "down", "--database", url, "--wait").is(t, 0)
	const left = `SELECT string_agg(p.oid::regprocedure::text, ' ') FROM pg_proc AS p
		WHERE p.pronamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'pgflurry'))`
	if functions := server.Value[*string](t, conn, left); functions != nil {
		t.Errorf("left are %s", *functions)
	}
	if after := server.Value[string](t, conn, rows); after != before {
		t.Errorf("the keys were %s and are %s", before, after)
	}
	if after := server.Value[string](t, conn, made); after != times {
		t.Errorf("the times were %s and are %s", times, after)
	}
	server.Do(t, conn, "INSERT INTO item (name) VALUES ('newest'); INSERT INTO note DEFAULT VALUES")
	if after := server.Value[string](t, conn, rows); !strings.HasPrefix(after, before+" ") {
		t.Errorf("the keys were %s, and with new ones they are %s", before, after)
	}
}

func TestDownRemovesWhatADroppedSchemaLeavesInPublic(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, "CREATE TABLE note (id bigint DEFAULT next_snowflake()); DROP SCHEMA pgflurry CASCADE")
	const left = "SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
	n := server.Value[int](t, conn, left)
	if n == 0 {
		t.Fatal("nothing is left")
	}
	down := func() ended { return run(t, "migrate", "down", "--database", url) }
	down().is(t, 1, "schema pgflurry was dropped, its functions are left in public",
		"default value for column id of table public.note")
	server.Do(t, conn, "DROP TABLE note; "+
		"CREATE FUNCTION snowflake_time(n integer) RETURNS integer LANGUAGE sql RETURN n")
	if said := down(); said.code != 0 || !strings.Contains(said.out, "which had left 8 functions in public") || n != 8 {
		t.Errorf("%d were left, and it said %q %q", n, said.out, said.errs)
	}
	if n := server.Value[int](t, conn, left); n != 1 { // somebody else's
		t.Errorf("%d functions are left", n)
	}
	if said := down(); said.code != 0 || !strings.Contains(said.out, "there is nothing to remove") {
		t.Errorf("a second time it said %q %q", said.out, said.errs)
	}
	if server.Value[bool](t, conn, "SELECT to_regnamespace('pgflurry') IS NOT NULL") {
		t.Error("the schema is back")
	}
}
