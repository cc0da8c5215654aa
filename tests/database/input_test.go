package database

import (
	"fmt"
	"strings"
	"testing"

	"pgflurry/tests/support/server"
)

// contents is everything that a call could change, as one text.
const contents = `SELECT concat_ws('|',
	(SELECT string_agg(r::text, ',' ORDER BY r::text) FROM pgflurry.auto_increment AS r),
		(SELECT string_agg(r::text, ',' ORDER BY r::text) FROM pgflurry.replace_sequence AS r),
	(SELECT string_agg(r::text, ',' ORDER BY r::text) FROM pgflurry.counter AS r),
		(SELECT string_agg(r::text, ',' ORDER BY r::text) FROM pgflurry.token AS r),
	(SELECT string_agg(r::text, ',' ORDER BY r::text) FROM pgflurry.lock AS r),
		(SELECT string_agg(relname, ',' ORDER BY relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace),
	(SELECT string_agg(s::text, ',' ORDER BY sequencename) FROM pg_sequences AS s WHERE schemaname = 'public'))`

// refusals are calls that must fail, each with the SQLSTATE and a text of the error.
var refusals = map[string][2]string{
	"pgflurry.incrby('a', NULL)":                           {"22023", "n is null"},
	"pgflurry.incr('top')":                                 {"22003", "adding 1 to 'top' would overflow"},
	"pgflurry.incrby('bottom', -1)":                        {"22003", "adding -1 to 'bottom' would overflow"},
	"pgflurry.incrby('top', 9223372036854775807)":          {"22003", "would overflow"},
	"pgflurry.incrby('bottom', -9223372036854775808)":      {"22003", "would overflow"},
	"pgflurry.set_counter('a', NULL::bigint)":              {"22023", "the value is null"},
	"pgflurry.set_counter('a', NULL::text)":                {"22023", "the value is null"},
	"pgflurry.set_counter('a', 'many')":                    {"22P02", "'many' is not an integer"},
	"pgflurry.set_counter('a', '9223372036854775808')":     {"22003", "9223372036854775808 is out of range"},
	"pgflurry.set_counter('a', '-9223372036854775809')":    {"22003", "out of range"},
	"pgflurry.next_auto_increment('b')":                    {"42704", "there is no name 'b'"},
	"pgflurry.redeem_token(NULL)":                          {"22023", "the token is null"},
	"snowflake_text(-1, 19)":                               {"22003", "-1 is negative"},
	"snowflake_text(100, 2)":                               {"22003", "ID 100 has 3 digits, more than width 2"},
	"snowflake_text(1, 0)":                                 {"22023", "width is 0, not 1 to 100"},
	"snowflake_text(1, 101)":                               {"22023", "width is 101"},
	"snowflake_base32(-1)":                                 {"22003", "-1 is negative"},
	"snowflake_base32(-9223372036854775808, true)":         {"22003", "is negative and no ID"},
	"snowflake_from_base32('12')":                          {"22P02", "\"12\" has 2 characters; expected 13, or 14"},
	"snowflake_from_base32('0000000000000', true)":         {"22P02", "has 13 characters; expected 14"},
	"snowflake_from_base32('00000-0000000u')":              {"22P02", "the character \"U\", which is none of base32"},
	"snowflake_from_base32('8000000000000')":               {"22003", "has more than 63 bits"},
	"snowflake_from_base32('00000000000012')":              {"22P02", "the check symbol of"},
	"snowflake_settled(NULL)":                              {"22023", "max_age is null, not 0 to 366 days"},
	"snowflake_settled('-1 us')":                           {"22023", "max_age is -00:00:00.000001, not 0 to"},
	"snowflake_settled('367 days')":                        {"22023", "max_age is 367 days, not 0 to 366 days"},
	"pgflurry.layout_years(0)":                             {"22023", "0 timestamp bits are not 1 to 62"},
	"pgflurry.layout_years(41, '2 s')":                     {"22023", "the unit is 00:00:02"},
	"pgflurry.create_offset_sequences('a', 2)":             {"42P07", "public.a_1 is there already"},
	"pgflurry.create_offset_sequences('b', 2, 0)":          {"22023", "server 0 is not 1 to 2"},
	"pgflurry.create_offset_sequences('b', 2, 3)":          {"22023", "server 3 is not 1 to 2"},
	"pgflurry.create_offset_sequences('b', 257)":           {"22023", "257 sequences are more than 256"},
	"pgflurry.create_offset_sequences('x.y.z', 2)":         {"22023", "'x.y.z' is no name of a sequence"},
	"pgflurry.create_offset_sequences('9x', 2)":            {"22023", "'9x' is no name of a sequence"},
	"pgflurry.create_offset_sequences('none.b', 2)":        {"3F000", "there is no schema \"none\""},
	"pgflurry.create_offset_sequences(repeat('b', 62), 2)": {"42622", "is too long"},
	"pgflurry.replan_offset_sequences('b', 2)":             {"42704", "there are no sequences public.b_1"},
	"pgflurry.replan_offset_sequences('a', 1)":             {"55000", "sequence public.a_2 is not in the plan"},
	"pgflurry.replan_offset_sequences('a', 2, NULL, 1)":    {"55000", "sequence public.a_2 is not in the plan"},
	"pgflurry.replan_offset_sequences('a', 3, 1)": {
		"22023", "number 2 has been reached, and the new numbers shall begin above 1",
	},
	"pgflurry.replan_offset_sequences('a', 3, -1)": {"22023", "above -1"},
	"pgflurry.replan_offset_sequences('a', 3, 9223372036854775806)": {
		"2200H", "no room for new numbers above 9223372036854775806",
	},
}

func TestBadInputIsRefusedWithAHintAndChangesNothing(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, `INSERT INTO pgflurry.auto_increment (name) VALUES ('a');
		SELECT pgflurry.next_replace_id('a'), pgflurry.incr('a'), pgflurry.issue_token('1 hour'),
			pgflurry.try_lock('a', 'me', '1 hour');
		SELECT pgflurry.set_counter('top', 9223372036854775807), pgflurry.set_counter('bottom', -9223372036854775808);
		SELECT pgflurry.create_offset_sequences('a', 2)`)
	before := server.Value[string](t, conn, contents)
	names := map[string]string{
		"NULL": "is null", "''": "is empty", "repeat('x', 256)": "has 256 characters, more than 255",
	}
	ttls := map[string]string{
		"NULL": "null", "'0 s'": "00:00:00", "'-1 s'": "-00:00:01", "'0.9 ms'": "00:00:00.0009",
		"'367 days'": "367 days",
	}
	refused := func(sqlstate, statement, said string) {
		t.Helper()
		err := server.Refused(t, conn, sqlstate, statement)
		if err.Hint == "" {
			t.Errorf("%s: no hint", statement)
		}
		if !strings.Contains(err.Message, said) {
			t.Errorf("%s: %q does not say %q", statement, err.Message, said)
		}
	}
	for name, said := range names {
		for _, call := range []string{
			"pgflurry.next_auto_increment(%s)", "pgflurry.next_replace_id(%s)", "pgflurry.incr(%s)",
			"pgflurry.incrby(%s, 1)", "pgflurry.get_counter(%s)",
			"pgflurry.set_counter(%s, 1)", "pgflurry.set_counter(%s, '1')",
			"pgflurry.try_lock(%s, 'me', '1 s')", "pgflurry.try_lock('b', %s, '1 s')",
			"pgflurry.unlock(%s, 'me')", "pgflurry.unlock('a', %s)",
			"pgflurry.renew_lock(%s, 'me', '1 s')", "pgflurry.renew_lock('a', %s, '1 s')",
			"pgflurry.create_offset_sequences(%s, 2)", "pgflurry.replan_offset_sequences(%s, 2)",
		} {
			refused("22023", "SELECT "+fmt.Sprintf(call, name), said)
		}
	}
	for ttl, said := range ttls {
		for _, call := range []string{
			"pgflurry.issue_token(%s)", "pgflurry.try_lock('b', 'me', %s)", "pgflurry.renew_lock('a', 'me', %s)",
		} {
			refused("22023", "SELECT "+fmt.Sprintf(call, ttl), "time to live is "+said+", not 1 ms to 366 days")
		}
	}
	for _, n := range []string{"NULL", "0", "-1", "10001"} {
		refused("22023", "SELECT pgflurry.clean_tokens("+n+")", "n is "+strings.ToLower(n)+", not 1 to 10000")
		refused("22023", "SELECT pgflurry.clean_locks("+n+")", "not 1 to 10000")
	}
	for _, servers := range []string{"NULL", "0", "-1", "65536"} {
		refused("22023", "SELECT pgflurry.create_offset_sequences('b', "+servers+")",
			"number of servers is "+strings.ToLower(servers)+", not 1 to 65535")
		refused("22023", "SELECT pgflurry.replan_offset_sequences('a', "+servers+")", "not 1 to 65535")
	}
	for statement, want := range refusals {
		refused(want[0], "SELECT "+statement, want[1])
	}
	if after := server.Value[string](t, conn, contents); after != before {
		t.Errorf("refused calls have changed\n%s\nto\n%s", before, after)
	}
}

func TestNamesOf255CharactersOfAnyScriptAreNamesByteByByte(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	server.Do(t, conn, `SELECT pgflurry.incr(repeat('雪', 255)), pgflurry.next_replace_id(repeat('雪', 255)),
		pgflurry.try_lock(repeat('雪', 255), repeat('雪', 255), '366 days'),
		pgflurry.incr('Ä'), pgflurry.incr('ä')`)
	if n := server.Value[int](t, conn, "SELECT count(*) FROM pgflurry.counter"); n != 3 {
		t.Errorf("%d keys, want 3", n)
	}
}

func TestOfANullPureFunctionsGiveNull(t *testing.T) {
	t.Parallel()
	conn := server.Connect(t, server.Migrated(t))
	const ofNull = `SELECT
		(snowflake_text(NULL, 19), snowflake_text(1, NULL), pgflurry.uuidv7_time(NULL), pgflurry.layout_years(NULL),
			snowflake_base32(NULL), snowflake_base32(1, NULL), snowflake_from_base32(NULL)) IS NULL`
	if !server.Value[bool](t, conn, ofNull) {
		t.Error("a pure function makes something of NULL")
	}
}
