package wire

import (
	"context"
	"errors"
	"testing"

	"pgflurry/tests/support/server"
)

// addTags makes tags with numbers as long as IDs, so that they are masked as IDs are.
func addTags(t testing.TB, url string) {
	t.Helper()
	server.Exec(t, url, `INSERT INTO pgflurry.segment (biz_tag, max_id) VALUES ('order', 2000000000000000),
		('it''s', 3000000000000000)`)
}

// tags gives numbers for the existing tags, from a source of IDs.
type tags struct{ *source }

var errNoTag = errors.New("no such tag")

func (x tags) TryNextN(tag []byte, n int) (first int64, count int, err error) {
	if string(tag) != "order" && string(tag) != "it's" {
		return 0, 0, errNoTag
	}
	return x.source.TryNextN(n)
}

func (x tags) NextN(ctx context.Context, tag []byte, n int) (first int64, count int, err error) {
	return x.source.NextN(ctx, n)
}

const (
	ourNumber  = "SELECT next_segment('order')"
	numberOf   = "SELECT next_segment($1)"
	numbersOf  = "SELECT * FROM next_segments($1, $2)"
	varcharOID = 1043
)

// bound binds values in text format.
func bound(statement string, texts ...string) message {
	var v values
	for _, text := range texts {
		v = append(v, []byte(text))
	}
	return BindValues("", statement, nil, v)
}

func TestNumbersOfATagAreAnsweredAsByPostgreSQL(t *testing.T) {
	t.Parallel()
	checkAll(t, []conversation{
		{name: "simple", steps: []step{
			say(Query(ourNumber)), say(Query("SELECT public.next_segment('it''s') AS id;")),
			say(Query("select pgflurry . next_segment('order')::text, next_segment('order')::bigint")),
			say(Query("SELECT * FROM next_segments('order', 3)")),
			say(Query("SELECT * FROM pgflurry.next_segments('order', 2) AS n(id)")),
			say(Query("SELECT next_segment('order') FROM generate_series(1, 4)")),
			say(Query("/* why */ SELECT next_segment('order') x -- so")),
			say(Query("SELECT * FROM next_segment('order') AS n")),
			say(Query("SELECT CAST(next_segment('order') AS text)")),
		}, local: 16},
		{name: "forwarded", steps: []step{
			say(Query("SELECT next_segment(E'order')")), say(Query("SELECT next_segment($$order$$)")),
			say(Query("SELECT next_segment('ord'\n'er')")), say(Query("SELECT next_segment('order'::text)")),
			say(Query("SELECT next_segment('order') + 0")),
			say(Query("SELECT next_segment('order'), next_segment('it''s')")),
			say(Query("SELECT next_snowflake(), next_segment('order')")),
			say(Query("SELECT next_segments('order', 2)")),
		}},
		{name: "errors of the function", steps: []step{
			say(Query("SELECT next_segment('missing')")), say(Query("SELECT next_segment('')")),
			say(Query("SELECT next_segment(NULL)")), say(Query("SELECT next_segment()")),
			say(Query("SELECT next_segment('order', 1)")), say(Query("SELECT next_segment(1)")),
			say(Query("SELECT * FROM next_segments('order', 0)")),
			say(Query("SELECT * FROM next_segments('order', 10001)")),
			say(Query("SELECT * FROM next_segments('missing', 1)")), say(Query("SELECT next_segment('order'")),
			say(Query("SELECT next_segment('order)")), say(Query("SELECT next_segment($1)")),
			together(request("SELECT next_segment('missing')"), Sync), say(Query(ourNumber)),
		}, local: 1},
		{name: "backslash, whatever it means", steps: []step{
			say(Query(`SELECT next_segment('a\b')`)), say(Query("SET standard_conforming_strings = off")),
			say(Query(`SELECT next_segment('order\'')`)), say(Query(ourNumber)),
		}, local: 1},
		{name: "requests", steps: []step{
			together(request(ourNumber), Sync), together(request(ourNumber, 1), Sync),
			together(request("SELECT * FROM next_segments('order', 2)", 1), Sync),
			together(request(ourNumber), request(ours), request(ourNumber), Sync),
		}, local: 7},
		{name: "in a transaction block, and a failed one", steps: []step{
			say(Query("BEGIN")), say(Query(ourNumber)), together(request(ourNumber), Sync),
			together(request("SELECT next_segment('missing')"), Sync),
			say(Query(ourNumber)), together(request(ourNumber), Sync), say(Query("ROLLBACK")),
			say(Query("SELECT next_segment('it''s')")), // numbers of order may repeat: its draws were rolled back
		}, local: 3},
		{name: "a bound tag, unnamed", steps: []step{
			say(Parse("", numberOf), bound("", "order"), DescribePortal(""), Execute(""), Sync),
			say(bound("", "it's"), Execute(""), Sync), say(bound("", "missing"), Execute(""), Sync),
			say(bound("", ""), Execute(""), Sync),
			say(bound("", "order"), Execute(""), Sync),
			say(Parse("", numberOf, textOID), BindValues("", "", []int16{1}, values{[]byte("order")}, 1),
				DescribePortal(""), Execute(""), Sync),
			say(Parse("", numberOf, varcharOID), bound("", "order"), Execute(""), Sync),
			say(Parse("", numberOf, int4OID), bound("", "1"), Execute(""), Sync),
			say(Parse("", numberOf, 0), bound("", "order"), Execute(""), Sync),
		}, local: 6},
		{name: "a bound tag that is none", steps: []step{
			say(Parse("", numberOf), BindValues("", "", nil, values{nil}), Execute(""), Sync),
			say(Parse("", numberOf), bound("", "\xc3\xa9"), Execute(""), Sync),
			say(Parse("", numberOf), bound("", "a\x00b"), Execute(""), Sync),
			say(Parse("", numberOf), bound("", "\xff"), Execute(""), Sync),
			say(Parse("", numberOf), Bind("", ""), Execute(""), Sync),
			say(Parse("", numberOf), bound("", "order", "order"), Execute(""), Sync),
			say(Parse("", ourNumber), bound("", "order"), Execute(""), Sync),
		}},
		{name: "a bound tag, named", steps: []step{
			say(Parse("s", numberOf), DescribeStatement("s"), Sync),
			say(bound("s", "order"), DescribePortal(""), Execute(""), Sync),
			say(bound("s", "missing"), Execute(""), Sync), say(Parse("undescribed", numberOf), Sync),
			say(bound("undescribed", "order"), Execute(""), Sync),
			say(Query("DEALLOCATE s")), say(bound("s", "order"), Execute(""), Sync),
		}, local: 2},
		{name: "tag and count bound", steps: []step{
			say(Parse("s", numbersOf), DescribeStatement("s"), Sync),
			say(bound("s", "order", "3"), DescribePortal(""), Execute(""), Sync),
			say(BindValues("", "s", []int16{0, 1}, values{[]byte("order"), int8Value(2)}, 1), DescribePortal(""),
				Execute(""), Sync),
			say(BindValues("", "s", []int16{1}, values{[]byte("order"), int8Value(2)}), Execute(""), Sync),
			say(bound("s", "order", "0"), Execute(""), Sync), say(bound("s", "order", "10001"), Execute(""), Sync),
			say(bound("s", "missing", "1"), Execute(""), Sync),
			say(bound("s", "order"), Execute(""), Sync),
			say(BindValues("", "s", nil, values{[]byte("order"), nil}), Execute(""), Sync),
			say(BindValues("", "s", []int16{0, 0, 0}, values{[]byte("order"), []byte("1")}), Execute(""), Sync),
			say(Parse("u", "SELECT next_segment($1) FROM generate_series(1, $2)"), DescribeStatement("u"), Sync),
			say(bound("u", "order", "2"), Execute(""), Sync),
			say(Parse("v", "SELECT * FROM next_segments('order', $1)"), DescribeStatement("v"), Sync),
			say(bound("v", "2"), Execute(""), Sync), say(Parse("w", "SELECT * FROM next_segments($1, 2)"), Sync),
			say(bound("w", "order"), DescribePortal(""), Execute(""), Sync),
		}, local: 13},
		{name: "what a local request leaves", steps: []step{
			say(Parse("", numberOf), bound("", "order"), Execute(""), Sync), say(DescribeStatement(""), Sync),
			say(bound("", "missing"), Execute(""), Sync), say(Query(ourNumber)),
			say(bound("", "order"), Execute(""), Sync),
		}, local: 2},
	})
}
