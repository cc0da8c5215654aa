package statement

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// answered has every shape that the grammar knows, with PostgreSQL's column names (checked against a server by
// tests/wire).
var answered = []struct {
	sql  string
	want Form
}{
	{"SELECT next_snowflake()", Form{Columns: bigints("next_snowflake"), Rows: 1}},
	{"select next_snowflake();", Form{Columns: bigints("next_snowflake"), Rows: 1}},
	{"select public.next_snowflake()", Form{Columns: bigints("next_snowflake"), Rows: 1}},
	{"SeLeCt Public . NEXT_Snowflake ( ) ; ", Form{Columns: bigints("next_snowflake"), Rows: 1}},
	{`SELECT"public"."next_snowflake"()`, Form{Columns: bigints("next_snowflake"), Rows: 1}},
	{"SELECT next_snowflake() AS id", Form{Columns: bigints("id"), Rows: 1}},
	{"SELECT next_snowflake() Id", Form{Columns: bigints("id"), Rows: 1}},
	{`SELECT next_snowflake()"Id"`, Form{Columns: bigints("Id"), Rows: 1}},
	{`SELECT next_snowflake() AS "a""b c"`, Form{Columns: bigints(`a"b c`), Rows: 1}},
	{"SELECT next_snowflake() AS select", Form{Columns: bigints("select"), Rows: 1}},
	{"SELECT next_snowflake() AS from;", Form{Columns: bigints("from"), Rows: 1}},
	{"SELECT next_snowflake() name", Form{Columns: bigints("name"), Rows: 1}},
	{"SELECT next_snowflake() id$1", Form{Columns: bigints("id$1"), Rows: 1}},
	{"SELECT next_snowflake()::bigint", Form{Columns: bigints("next_snowflake"), Rows: 1}},
	{"SELECT public.next_snowflake() :: INT8 AS x", Form{Columns: bigints("x"), Rows: 1}},
	{"SELECT next_snowflake()::text", Form{Columns: []Column{{"next_snowflake", true}}, Rows: 1}},
	{"SELECT next_snowflake()::Text id", Form{Columns: []Column{{"id", true}}, Rows: 1}},
	{
		"SELECT next_snowflake(), public.next_snowflake()::text AS b,next_snowflake() c",
		Form{Columns: []Column{{"next_snowflake", false}, {"b", true}, {"c", false}}, Rows: 1},
	},
	{"SELECT public.next_snowflake(), public.next_snowflake()", Form{
		Columns: bigints("next_snowflake", "next_snowflake"), Rows: 1,
	}},
	{"SELECT next_snowflake() FROM generate_series(1, 10000)", Form{
		Columns: bigints("next_snowflake"), Rows: 10000,
	}},
	{"SELECT public.next_snowflake() id from Generate_Series(1,05)", Form{Columns: bigints("id"), Rows: 5}},
	{"SELECT public.next_snowflake() FROM generate_series(1,3) g", Form{Columns: bigints("next_snowflake"), Rows: 3}},
	{`SELECT public.next_snowflake()
		FROM "generate_series"(1,3)AS"G"(i);`, Form{Columns: bigints("next_snowflake"), Rows: 3}},
	{"SELECT public.next_snowflake() FROM generate_series(1,$1)", Form{
		Columns: bigints("next_snowflake"), CountParam: true, Series: true,
	}},
	{"SELECT next_snowflake() FROM generate_series(1, '5')", Form{
		Columns: bigints("next_snowflake"), Rows: 5,
	}},
	{"SELECT * FROM next_snowflakes( '005' )", Form{Columns: bigints("next_snowflakes"), Rows: 5}},
	{"SELECT * FROM next_segments('a', '5')", Form{
		Columns: bigints("next_segments"), Rows: 5, Tag: &Tag{Text: []byte("a")},
	}},
	{"select * from next_snowflake() as result", Form{Columns: bigints("result"), Rows: 1}},
	{"SELECT * FROM public.next_snowflake()", Form{Columns: bigints("next_snowflake"), Rows: 1}},
	{"SELECT * FROM pgflurry.next_segment($1) AS t(n)", Form{Columns: bigints("n"), Rows: 1, Tag: &Tag{Param: true}}},
	{"SELECT CAST(next_snowflake() AS BIGINT)", Form{Columns: bigints("next_snowflake"), Rows: 1}},
	{"SELECT cast ( next_segment('a') as text ) n, CAST(next_segment('a') AS int8)", Form{
		Columns: []Column{{"n", true}, {"next_segment", false}}, Rows: 1, Tag: named("a"),
	}},
	{"SELECT * FROM next_snowflakes(5)", Form{Columns: bigints("next_snowflakes"), Rows: 5}},
	{"SELECT*FROM public.next_snowflakes($1)", Form{Columns: bigints("next_snowflakes"), CountParam: true}},
	{"SELECT * FROM public.next_snowflakes(5) ids", Form{Columns: bigints("ids"), Rows: 5}},
	{"SELECT * FROM public.next_snowflakes(5) AS t(id)", Form{Columns: bigints("id"), Rows: 5}},
	{"/* app=x */ SELECT next_snowflake() -- why", Form{
		Columns: bigints("next_snowflake"), Rows: 1,
	}},
	{"--a\rSELECT/*/**/*/next_snowflake/***/(\n)\f;\t--\n", Form{
		Columns: bigints("next_snowflake"), Rows: 1,
	}},
	{"SELECT */* all */FROM next_snowflakes(1)", Form{Columns: bigints("next_snowflakes"), Rows: 1}},
	{"SELECT *--all\nFROM next_snowflakes(1)", Form{Columns: bigints("next_snowflakes"), Rows: 1}},
	{"SELECT next_segment('order')", Form{
		Columns: bigints("next_segment"), Rows: 1, Tag: named("order"),
	}},
	{"SELECT public.next_segment( 'it''s' )::text AS n;", Form{
		Columns: []Column{{"n", true}}, Rows: 1, Tag: named("it's"),
	}},
	{`select "pgflurry"."next_segment"/* the tag */('A b')`, Form{
		Columns: bigints("next_segment"), Rows: 1, Tag: named("A b"),
	}},
	{"SELECT next_segment($1) id", Form{Columns: bigints("id"), Rows: 1, Tag: &Tag{Param: true}}},
	{
		"SELECT pgflurry.next_segment('a'), public.next_segment('a')::bigint b FROM generate_series(1, 3) g",
		Form{Columns: bigints("next_segment", "b"), Rows: 3, Tag: named("a")},
	},
	{"SELECT public.next_segment($1) FROM generate_series(1, $2)", Form{
		Columns: bigints("next_segment"), CountParam: true, Series: true, Tag: &Tag{Param: true},
	}},
	{"SELECT public.next_segment('a') FROM generate_series(1, $1)", Form{
		Columns: bigints("next_segment"), CountParam: true, Series: true, Tag: named("a"),
	}},
	{"SELECT * FROM next_segments('order', 5)", Form{
		Columns: bigints("next_segments"), Rows: 5, Tag: named("order"),
	}},
	{"SELECT * FROM pgflurry.next_segments('order', $1) AS t(id)", Form{
		Columns: bigints("id"), CountParam: true, Tag: named("order"),
	}},
	{"SELECT * FROM public.next_segments($1, $2)", Form{
		Columns: bigints("next_segments"), CountParam: true, Tag: &Tag{Param: true},
	}},
	{"SELECT * FROM public.next_segments($1, 10000) n", Form{
		Columns: bigints("n"), Rows: 10000, Tag: &Tag{Param: true},
	}},
	{
		"SELECT pgflurry.next_segment('" + strings.Repeat("x", 128) + "')",
		Form{Columns: bigints("next_segment"), Rows: 1, Tag: named(strings.Repeat("x", 128))},
	},
	{
		"SELECT next_snowflake() AS " + strings.Repeat("x", 63),
		Form{Columns: bigints(strings.Repeat("x", 63)), Rows: 1},
	},
}

// forwarded has texts just outside the grammar. PostgreSQL gives the same answer to some of them; then forwarding only
// costs time.
var forwarded = []string{
	"",
	";",
	"SELECT",
	"SELECT 1",
	"SELECT next_snowflake",
	"SELECT next_snowflake(",
	"SELECT next_snowflake(1)",
	"SELECT next_snowflakes(1)",
	"SELECT next_snowflake()()",
	"SELECT next_snowflake(),",
	"SELECT next_snowflake() +1",
	"SELECT snowflake_base32(next_snowflake())",
	"SELECT next_snowflake();;",
	";SELECT next_snowflake()",
	"SELECT next_snowflake(); SELECT 1",
	"SELECT (next_snowflake())",
	"SELECT ALL next_snowflake()",
	"SELECT DISTINCT next_snowflake()",
	"(SELECT next_snowflake())",
	"EXPLAIN SELECT next_snowflake()",
	"BEGIN; SELECT next_snowflake()",
	"SELECT next_snowflake() LIMIT 1",
	"SELECT next_snowflake()::int8::text",
	"SELECT * FROM next_snowflakes(2::bigint)",
	"SELECT * FROM next_snowflake(1)",
	"SELECT * FROM next_snowflake(), next_snowflake()",
	"SELECT * FROM pgflurry.next_snowflake()",
	"SELECT CAST(next_snowflake() AS numeric)",
	"SELECT CAST(next_snowflake())",
	"SELECT CAST(next_snowflake()::text AS bigint)",
	"SELECT \"cast\"(next_snowflake() AS bigint)",
	"SELECT next_snowflake() WHERE true",
	"SELECT next_snowflake() INTO t",
	"SELECT next_snowflake() x INTO t",
	"SELECT next_snowflake() FROM t",
	"SELECT next_snowflake() UNION ALL SELECT 1",
	"SELECT next_snowflake() OVER ()",
	"SELECT next_snowflake() FILTER (WHERE true)",
	"SELECT next_snowflake() AS",
	"SELECT next_snowflake() AS 'x'",
	"SELECT next_snowflake() AS 5",
	`SELECT next_snowflake() AS ""`,
	`SELECT next_snowflake() AS "x`,
	`SELECT next_snowflake() AS U&"d\0061t"`,
	`SELECT next_snowflake() "a" "b"`,
	"SELECT next_snowflake() a b",
	"SELECT next_snowflake() year",
	"SELECT next_snowflake() AS a.b",
	"SELECT next_snowflake()::int",
	"SELECT next_snowflake()::bigint::text",
	"SELECT next_snowflake()::bigint[]",
	"SELECT next_snowflake()::text(5)",
	`SELECT next_snowflake()::"bigint"`,
	"SELECT next_snowflake()::pg_catalog.int8",
	"SELECT next_snowflake(): :text",
	"SELECT next_snowflake()x::text",
	`SELECT "NEXT_SNOWFLAKE"()`,
	`SELECT "Public".next_snowflake()`,
	"SELECT private.next_snowflake()",
	"SELECT db.public.next_snowflake()",
	"SELECT public.public.next_snowflake()",
	`"SELECT" next_snowflake()`,
	"SELECT next_snowflake() FROM generate_series(0, 5)",
	"SELECT next_snowflake() FROM generate_series(1, 0)",
	"SELECT next_snowflake() FROM generate_series(1, 10001)",
	"SELECT next_snowflake(), next_snowflake() FROM generate_series(1, 5001)",
	"SELECT next_snowflake() FROM generate_series(1, 99999999999999999999)",
	"SELECT next_snowflake() FROM generate_series(1, -5)",
	"SELECT next_snowflake() FROM generate_series(1, +5)",
	"SELECT next_snowflake() FROM generate_series(1, 5.)",
	"SELECT next_snowflake() FROM generate_series(1, 5e0)",
	"SELECT next_snowflake() FROM generate_series(1, 0x5)",
	"SELECT next_snowflake() FROM generate_series(1, 1_0)",
	"SELECT next_snowflake() FROM generate_series(1, 5a)",
	"SELECT next_snowflake() FROM generate_series('1', 5)",
	"SELECT next_snowflake() FROM generate_series(1, ' 5')",
	"SELECT next_snowflake() FROM generate_series(1, '')",
	"SELECT next_snowflake() FROM generate_series(1, '0')",
	"SELECT next_snowflake() FROM generate_series(1, '10001')",
	"SELECT next_snowflake() FROM generate_series(1, '-5')",
	"SELECT next_snowflake() FROM generate_series(1, '5.0')",
	"SELECT next_snowflake() FROM generate_series(1, '0x5')",
	"SELECT next_snowflake() FROM generate_series(1, '5'::int)",
	"SELECT next_snowflake() FROM generate_series(1, 5, 1)",
	"SELECT next_snowflake() FROM generate_series(1)",
	"SELECT next_snowflake() FROM generate_series($1, 5)",
	"SELECT next_snowflake() FROM generate_series(1, $2)",
	"SELECT next_snowflake() FROM generate_series(1, $01)",
	"SELECT next_snowflake() FROM generate_series(1, $1a)",
	"SELECT next_snowflake() FROM generate_series(1, $)",
	"SELECT next_snowflake() FROM generate_series(1, $1::int)",
	"SELECT next_snowflake() FROM pg_catalog.generate_series(1, 5)",
	"SELECT next_snowflake() FROM generate_series(1, 5) g(i, j)",
	"SELECT next_snowflake() FROM generate_series(1, 5) g()",
	"SELECT next_snowflake() FROM generate_series(1, 5) AS (i int)",
	"SELECT next_snowflake() FROM generate_series(1, 5) AS g(i int)",
	"SELECT next_snowflake() FROM generate_series(1, 5), t",
	"SELECT next_snowflake() FROM generate_series(1, 5) left",
	"SELECT next_snowflake() FROM generate_series(1, 5) ORDER BY 1",
	"SELECT next_snowflake() FROM generate_series(1, 5) WITH ORDINALITY",
	"SELECT next_snowflake() FROM next_snowflakes(5)",
	"SELECT * FROM next_snowflakes()",
	"SELECT * FROM next_snowflakes(5, 5)",
	"SELECT * FROM next_snowflakes(0)",
	"SELECT * FROM generate_series(1, 5)",
	"SELECT *, next_snowflake() FROM next_snowflakes(5)",
	"SELECT **FROM next_snowflakes(5)",
	"SELECT x.* FROM next_snowflakes(5) x",
	"SELECT * FROM LATERAL next_snowflakes(5)",
	"SELECT * FROM ROWS FROM (next_snowflakes(5))",
	"SELECT\vnext_snowflake()",
	"SELECT\u00a0next_snowflake()",
	"SELECT next_snowflake() /* é */",
	"SELECT next_snowflake() -- é",
	"SELECT next_snowflake() AS é",
	`SELECT next_snowflake() AS "é"`,
	"SELECT next_snowflake()\x00",
	"SELECT next_snowflake() --\x00",
	"SELECT next_snowflake() /*\x00*/",
	"SELECT next_snowflake() AS \"a\x00\"",
	"SELECT next_snowflake() /* ",
	"SELECT next_snowflake() /* /* */",
	"SELECT next_snowflake() /*/",
	"SELECT next_snowflake() / 1",
	"SELECT next_snowflake() - 1",
	"SELECT next_segment()",
	"SELECT next_segment('')",
	"SELECT next_segment(order)",
	`SELECT next_segment("order")`,
	"SELECT next_segment(1)",
	"SELECT next_segment(NULL)",
	"SELECT next_segment('order', 1)",
	"SELECT next_segment('order'::text)",
	"SELECT next_segment(E'order')",
	"SELECT next_segment(N'order')",
	"SELECT next_segment(U&'order')",
	"SELECT next_segment(b'1')",
	"SELECT next_segment($$order$$)",
	"SELECT next_segment('ord'\n'er')",
	`SELECT next_segment('a\b')`,
	"SELECT next_segment('é')",
	"SELECT next_segment('order)",
	"SELECT next_segment('" + strings.Repeat("x", 129) + "')",
	"SELECT next_segment($2)",
	"SELECT next_segment($1) FROM generate_series(1, $1)",
	"SELECT next_segment('a') FROM generate_series(1, $2)",
	"SELECT next_segment('a'), next_segment('b')",
	"SELECT next_segment('a'), next_segment($1)",
	"SELECT next_segment('a'), next_snowflake()",
	"SELECT next_snowflake(), next_segment('a')",
	"SELECT other.next_segment('a')",
	"SELECT pgflurry.next_snowflake()",
	"SELECT next_segments('a', 2)",
	"SELECT * FROM next_segments('a')",
	"SELECT * FROM next_segments('a', 0)",
	"SELECT * FROM next_segments('a', 10001)",
	"SELECT * FROM next_segments('a', $2)",
	"SELECT * FROM next_segments($1, $1)",
	"SELECT * FROM next_segments($2, $1)",
	"SELECT * FROM next_segments(5, 'a')",
	"SELECT * FROM next_segments('a', n => 5)",
	"SELECT next_snowflake() AS " + strings.Repeat("x", 64),
	`SELECT next_snowflake() AS "` + strings.Repeat("x", 64) + `"`,
	"SELECT next_snowflake()" + strings.Repeat(" ", maxText),
}

func TestMatchKnowsEveryAnsweredForm(t *testing.T) {
	for _, c := range answered {
		got, ok := Match([]byte(c.sql))
		if ok {
			got.Names, got.Function = 0, "" // the next test and FuzzMatch have them
		}
		if !ok || !reflect.DeepEqual(*got, c.want) {
			t.Errorf("Match(%q) = %+v, %v; want %+v", c.sql, got, ok, c.want)
		}
	}
}

func TestAFormUsesEachNameThatPostgreSQLHasToLookUp(t *testing.T) {
	for sql, want := range map[string][]string{
		"SELECT next_snowflake()":                             {"next_snowflake"},
		`SELECT "public"."next_snowflake"() AS text`:          {"public.next_snowflake"},
		"SELECT public.next_snowflake(), next_snowflake()":    {"public.next_snowflake", "next_snowflake"},
		"SELECT next_snowflake()::bigint":                     {"next_snowflake"},
		"SELECT next_snowflake()::int8":                       {"next_snowflake", "int8"},
		"SELECT public.next_snowflake()::TEXT":                {"public.next_snowflake", "text"},
		"SELECT next_snowflake() FROM generate_series(1, 5)":  {"next_snowflake", "generate_series"},
		"SELECT * FROM next_snowflakes(5)":                    {"next_snowflakes"},
		"SELECT * FROM public.next_snowflakes(5) generate_id": {"public.next_snowflakes"},
		"SELECT next_segment('a')":                            {"next_segment"},
		"SELECT public.next_segment($1)":                      {"public.next_segment"},
		"SELECT pgflurry.next_segment('next_snowflake')":      {"pgflurry.next_segment"},
		"SELECT * FROM next_segments('a', 5)":                 {"next_segments"},
		"SELECT * FROM public.next_segments('a', 5)":          {"public.next_segments"},
		"SELECT * FROM pgflurry.next_segments('a', 5)":        {"pgflurry.next_segments"},
	} {
		if got, ok := Match([]byte(sql)); !ok || got.Names != NamesOf(want...) || got.Names == 0 {
			t.Errorf("Match(%q) = %+v, %v; want the names %q", sql, got, ok, want)
		}
	}
	if NamesOf("nextval", "pgflurry.nextval", "public.") != 0 {
		t.Error("a name that no form uses is in a set")
	}
}

func TestMatchForwardsWhatIsNotPlainlyAnAnsweredForm(t *testing.T) {
	for _, sql := range forwarded {
		if got, ok := Match([]byte(sql)); ok {
			t.Errorf("Match(%q) = %+v; want it forwarded", sql, *got)
		}
	}
}

func TestMatchTakesTheLongestTextAndNothingLonger(t *testing.T) {
	longest := "SELECT next_snowflake()" + strings.Repeat(" ", maxText-len("SELECT next_snowflake()"))
	if _, ok := Match([]byte(longest)); !ok {
		t.Errorf("a statement of %d bytes is not matched", len(longest))
	}
}

func TestMatchDoesNotKeepTheText(t *testing.T) {
	sql := []byte("SELECT next_snowflake() AS label FROM generate_series(1,7)")
	f, ok := Match(sql)
	clear(sql)
	if !ok || f.Columns[0].Name != "label" {
		t.Errorf("after the buffer was used again: %+v, %v", f, ok)
	}
}

// Every statement of every client goes through Match, so a refusal must cost nothing.
func TestMatchAllocatesNothingForOrdinaryStatements(t *testing.T) {
	for _, sql := range []string{
		"SELECT 1", "SELECT * FROM users WHERE id = $1", "INSERT INTO t (id) VALUES (next_snowflake())", "BEGIN",
		"select a, b from t where c = 'x'", "/* app */ UPDATE t SET a = 1", "SELECT count(*) FROM t",
		"SELECT \"a\" FROM t", "SELECT 'x'", "SELECT nextval('x')", "SELECT $1::int", strings.Repeat("x", 4*maxText),
	} {
		text := []byte(sql)
		if n := testing.AllocsPerRun(100, func() { Match(text) }); n != 0 {
			t.Errorf("Match(%.40q) allocates %v times; want 0", sql, n)
		}
	}
}

func TestMatchAllocatesTheFormAndItsColumnsOnly(t *testing.T) {
	text := []byte("SELECT next_snowflake()")
	if n := testing.AllocsPerRun(100, func() { Match(text) }); n > 2 {
		t.Errorf("Match(%q) allocates %v times; want at most 2", text, n)
	}
}

func BenchmarkMatch(b *testing.B) {
	for _, sql := range []string{
		"SELECT next_snowflake()", "SELECT * FROM users WHERE id = $1", "INSERT INTO t VALUES ($1)",
	} {
		b.Run(fmt.Sprintf("%.12s", sql), func(b *testing.B) {
			text := []byte(sql)
			b.ReportAllocs()
			for b.Loop() {
				Match(text)
			}
		})
	}
}

func named(name string) *Tag { return &Tag{Text: []byte(name)} }

func bigints(names ...string) (columns []Column) {
	for _, name := range names {
		columns = append(columns, Column{Name: name})
	}
	return columns
}
