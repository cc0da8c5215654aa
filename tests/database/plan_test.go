//go:build full

package database

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/server"
)

// narrow makes a table for each kind of integer key that a plan widens.
//
//go:embed narrow.sql
var narrow string

// structure lists everything in schema public.
//
//go:embed structure.sql
var structure string

// planned returns the statements of a plan. call has its arguments.
func planned(t *testing.T, conn *pgx.Conn, call string) []string {
	t.Helper()
	return server.Values[string](t, conn,
		"SELECT statement FROM pgflurry.plan_conversion("+call+") WHERE statement IS NOT NULL ORDER BY step")
}

// notes returns what a plan says about other objects that it concerns.
func notes(t *testing.T, conn *pgx.Conn, call string) string {
	t.Helper()
	return strings.Join(server.Values[string](t, conn,
		"SELECT note FROM pgflurry.plan_conversion("+call+") WHERE statement IS NULL"), "\n")
}

func TestAPlanIsWhatTheConversionThenDoes(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, tables)
	const all = `SELECT string_agg(concat_ws(' ', s.seqrelid::regclass, s.seqincrement, s.seqmin, s.seqmax, s.seqstart,
			s.seqcycle, pg_sequence_last_value(s.seqrelid), obj_description(s.seqrelid)), E'\n' ORDER BY c.relname)
		FROM pg_sequence AS s
		JOIN pg_class AS c ON c.oid = s.seqrelid AND c.relnamespace = 'public'::regnamespace`
	for _, c := range columns {
		for _, old := range []string{"stop", "leave"} {
			call := "'" + c[0] + "', '" + c[1] + "', '" + old + "'"
			state := func() string {
				return server.Value[string](t, conn, shape, c[0], c[1]) + "\n" + server.Value[string](t, conn, all)
			}
			server.Do(t, conn, "BEGIN")
			for _, statement := range planned(t, conn, call) {
				server.Do(t, conn, statement)
			}
			byHand := state()
			server.Do(t, conn, "ROLLBACK")
			server.Do(t, conn, "BEGIN; SELECT pgflurry.convert_to_snowflake("+call+")")
			if is := state(); is != byHand {
				t.Errorf("converted, %s is\n%s\nand by the plan's statements\n%s", c[0], is, byHand)
			}
			if left := planned(t, conn, call); len(left) > 0 {
				t.Errorf("a plan for %s, which is converted, has statements: %q", c[0], left)
			}
			server.Do(t, conn, "ROLLBACK")
		}
	}
}

func TestAPlanLocksNobodyOutAndWaitsForNobodyWhoWrites(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn, other := server.Connect(t, url), server.Connect(t, url)
	server.Do(t, conn, narrow+"; CREATE TABLE item (id bigserial PRIMARY KEY)")
	server.Do(t, other, "BEGIN; INSERT INTO root (name) VALUES ('open'); INSERT INTO item DEFAULT VALUES")
	server.Do(t, conn, "SET lock_timeout = '1s'; BEGIN READ ONLY")
	for _, call := range []string{"'item'", "'root', rewrite => true", "'root', rewrite => false"} {
		if len(planned(t, conn, call)) == 0 {
			t.Errorf("the plan for %s has no statement", call)
		}
	}
	const strong = `SELECT count(*) FROM pg_locks
		WHERE pid = pg_backend_pid() AND locktype = 'relation' AND mode <> 'AccessShareLock'`
	if n := server.Value[int](t, conn, strong); n != 0 {
		t.Errorf("a plan holds %d locks above ACCESS SHARE", n)
	}
}

func TestAPlanTellsWhatElseIsConcernedAndHowLongLocksAreHeld(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, `CREATE TABLE item (id bigserial, name text, UNIQUE (id)); CREATE TABLE other (id bigint DEFAULT
			nextval('item_id_seq'), item_id bigint REFERENCES item (id));
		CREATE VIEW seen AS SELECT id FROM item; CREATE MATERIALIZED VIEW kept AS SELECT id FROM item;
		CREATE RULE watch AS ON DELETE TO item DO ALSO NOTIFY gone;
		CREATE FUNCTION draws() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN NEW.id := nextval('item_id_seq'); RETURN NEW; END $$;
		CREATE FUNCTION reads() RETURNS bigint LANGUAGE sql AS 'SELECT lastval()';
		CREATE TRIGGER draw BEFORE INSERT ON item FOR EACH ROW EXECUTE FUNCTION draws();
		CREATE TABLE bare (id bigserial, n int) PARTITION BY LIST (n); CREATE TABLE bare_all PARTITION OF bare DEFAULT`)
	for _, want := range []string{
		"foreign key other_item_id_fkey of public.other: column item_id is bigint", "view public.seen reads the column",
		"materialized view public.kept reads the column", "rule watch", "trigger draw calls public.draws()",
		"other columns draw from sequence public.item_id_seq, which therefore goes on: public.other.id",
		"function public.draws() names the sequence", "function public.reads() names the sequence, currval or lastval",
	} {
		if said := notes(t, conn, "'item'"); !strings.Contains(said, want) {
			t.Errorf("the plan does not say %q:\n%s", want, said)
		}
	}
	if said := notes(t, conn, "'bare'"); !strings.Contains(said, "1 partitions or children") {
		t.Errorf("the plan of a partitioned table says %q", said)
	}
	const held = "SELECT held FROM pgflurry.plan_conversion($1::text::regclass) WHERE statement LIKE 'SELECT max%'"
	if got := server.Value[string](t, conn, held, "item"); got != "milliseconds: the end of an index" {
		t.Errorf("with an index the greatest key takes %q", got)
	}
	server.Do(t, conn, "INSERT INTO bare (n) SELECT 1 FROM generate_series(1, 1000); ANALYZE bare")
	if got := server.Value[string](t, conn, held, "bare"); !strings.Contains(got, "no index") ||
		!strings.Contains(got, "about 1000 rows") {
		t.Errorf("without an index the greatest key takes %q", got)
	}
	server.Says(t, server.Refused(t, conn, "42703", "SELECT * FROM pgflurry.plan_conversion('item', 'none')"),
		"plan_conversion: table public.item has no column")
	server.Refused(t, conn, "42804", "SELECT * FROM pgflurry.plan_conversion('item', 'name')")
}

func TestBothWaysToWidenAKeyLeaveTheSameTables(t *testing.T) {
	t.Parallel()
	keys := []string{"'root'", "'always'", `'"By Default"', 'The ID'`}
	const ofView = `SELECT concat_ws(' ', a.attacl, pg_get_expr(d.adbin, d.adrelid),
			col_description(a.attrelid, a.attnum))
		FROM pg_attribute AS a LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
		WHERE a.attrelid = 'shown'::regclass AND a.attname = 'A text'`
	var first []string
	for _, way := range []string{"true", "false"} {
		conn := server.Connect(t, server.Migrated(t))
		server.Do(t, conn, narrow)
		before := server.Value[string](t, conn, ofView)
		for _, key := range keys {
			statements := planned(t, conn, key+", rewrite => "+way)
			copies := slices.ContainsFunc(statements, func(s string) bool { return strings.Contains(s, "ADD COLUMN") })
			if copies == (way == "true") {
				t.Fatalf("the plan for %s with rewrite => %s: %q", key, way, statements)
			}
			for _, statement := range statements[:len(statements)-1] { // all but the last, which converts
				server.Do(t, conn, statement)
			}
		}
		if after := server.Value[string](t, conn, ofView); after != before {
			t.Errorf("rewrite => %s: a view's column has %q, and had %q", way, after, before)
		}
		now := server.Values[string](t, conn, structure)
		if first == nil {
			first = now
		} else if !slices.Equal(now, first) {
			t.Errorf("without a long lock the tables are\n%s\nand after a rewrite\n%s", strings.Join(now, "\n"),
				strings.Join(first, "\n"))
		}
		for _, key := range keys {
			server.Do(t, conn, "SELECT pgflurry.convert_to_snowflake("+key+")")
		}
		server.Do(t, conn, `WITH new AS (INSERT INTO root (name, parent_id) VALUES ('new', 3) RETURNING id)
			INSERT INTO leaf (sub_id, wide_id) SELECT 1, id FROM new`)
		if n := server.Value[int](t, conn, "SELECT count(*) FROM leaf WHERE wide_id > 4294967295"); n != 1 {
			t.Errorf("rewrite => %s: %d rows refer to an ID, want 1", way, n)
		}
	}
}

func TestAPlanTakesTheRewriteForSmallTablesAndSaysWhatItCannotWriteDown(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, `CREATE TABLE item (id serial PRIMARY KEY, a int, g int GENERATED ALWAYS AS (id + 1) STORED,
			CHECK (id > 0));
		CREATE INDEX part ON item (id) WHERE a > 0; CREATE INDEX hashed ON item USING hash (id);
		CREATE MATERIALIZED VIEW kept AS SELECT id FROM item;
		CREATE POLICY few ON item USING (id > 5); CREATE TABLE history (before item, after item[]);
		CREATE TABLE pair (a integer, b integer, UNIQUE (a, b), FOREIGN KEY (a, b) REFERENCES pair (a, b));
		CREATE TABLE small (id serial PRIMARY KEY); CREATE TABLE parts (id serial, n int) PARTITION BY LIST (n)`)
	const rewrites = "ALTER TABLE public.small ALTER COLUMN id TYPE bigint"
	if got := planned(t, conn, "'small'"); !slices.Contains(got, rewrites) {
		t.Errorf("a small table is not rewritten: %q", got)
	}
	said := notes(t, conn, "'item', rewrite => false")
	for _, want := range []string{
		"index public.part of column public.item.id is not plain", "index public.hashed of column",
		"materialized view public.kept reads column id", "policy few on table public.item uses column",
		"column before of table public.history holds rows of table public.item", "column after of table public.history",
		"constraint item_id_check on table public.item uses column", "column g of table public.item uses",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the plan does not say %q:\n%s", want, said)
		}
	}
	if said := notes(t, conn, "'parts', rewrite => false"); !strings.Contains(said, "has partitions or children") {
		t.Errorf("of a partitioned table the plan says %q", said)
	}
	for _, statement := range planned(t, conn, "'parts', rewrite => false") {
		server.Do(t, conn, statement)
	}
	server.Do(t, conn, "CREATE SEQUENCE s")
	if said := notes(t, conn, "'pair', 'a', seq => 's'"); !strings.Contains(said, "has more than one column") {
		t.Errorf("of a foreign key of two columns the plan says %q", said)
	}
}

func TestNoRowIsLeftOutWhereAColumnIsCopied(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	server.Do(t, server.Connect(t, url), "GRANT CREATE ON SCHEMA public TO PUBLIC")
	owner := server.Connect(t, server.Role(t, url, "hidden_from"))
	server.Do(t, owner, `CREATE TABLE root (id serial PRIMARY KEY);
		CREATE TABLE leaf (n integer, root_id integer REFERENCES root); INSERT INTO root VALUES (1), (2), (3);
		INSERT INTO leaf VALUES (1, 1), (2, 2), (3, NULL); ALTER TABLE leaf ENABLE ROW LEVEL SECURITY;
		ALTER TABLE leaf FORCE ROW LEVEL SECURITY; CREATE POLICY first ON leaf USING (n = 1)`)
	statements := planned(t, owner, "'root', rewrite => false")
	var failed []string
	for _, statement := range statements[:len(statements)-1] { // as a client that goes on after an error
		if _, err := owner.Exec(server.Within(t), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
			failed = append(failed, err.Error())
		}
	}
	server.Do(t, owner, "ROLLBACK")
	if said := strings.Join(failed, "\n"); !strings.Contains(said, "row-level security policy") ||
		!strings.Contains(said, "is violated by some row") {
		t.Errorf("hidden rows are not told: %q", failed)
	}
	const rows = "SELECT string_agg(concat_ws(' ', n, root_id), ',' ORDER BY n) FROM leaf"
	conn := server.Connect(t, url)
	if got := server.Value[string](t, conn, rows); got != "1 1,2 2,3" {
		t.Errorf("the rows are %s", got)
	}
}

func TestRowsThatReplicationBringsAreCopied(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, `CREATE TABLE root (id serial PRIMARY KEY); INSERT INTO root VALUES (1), (2);
		CREATE TABLE leaf (root_id integer REFERENCES root); INSERT INTO leaf VALUES (1)`)
	statements := planned(t, conn, "'root', rewrite => false")
	for _, statement := range statements[:len(statements)-1] {
		server.Do(t, conn, statement)
		server.Do(t, conn, "SET session_replication_role = replica") // as a process that applies logical replication
		if statement == "RESET row_security" {
			server.Do(t, conn, "UPDATE leaf SET root_id = 2; INSERT INTO leaf VALUES (1)")
		}
		server.Do(t, conn, "RESET session_replication_role")
	}
	if got := server.Values[int64](t, conn, "SELECT root_id FROM leaf ORDER BY 1"); !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("the rows are %v, want 1 and 2", got)
	}
}

func TestAPlanQuotesSchemasAndTellsLongNamesApart(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, `CREATE SCHEMA "Of Sales"; SET search_path = "Of Sales";
		CREATE TABLE "Order" ("Id" serial PRIMARY KEY);
		CREATE TABLE lines_of_orders_with_everything ("Order Id" integer REFERENCES "Order", n integer);
		CREATE INDEX "By Order" ON lines_of_orders_with_everything ("Order Id", n);
		CREATE TABLE lines_of_orders_with_everything_before ("Order Id" integer REFERENCES "Order", n integer);
		RESET search_path`)
	for _, statement := range planned(t, conn, `'"Of Sales"."Order"', 'Id', rewrite => false`) {
		server.Do(t, conn, statement)
	}
	const left = `SELECT count(*) FROM pg_proc WHERE pronamespace = '"Of Sales"'::regnamespace`
	if n := server.Value[int](t, conn, left); n != 0 {
		t.Errorf("%d functions are left", n)
	}
}
