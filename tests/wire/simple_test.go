package wire

import "testing"

const ours = "SELECT next_snowflake()"

func TestSimpleQueriesAreAnsweredAsByPostgreSQL(t *testing.T) {
	t.Parallel()
	checkAll(t, []conversation{
		{name: "a bigint is answered", steps: []step{say(Query(ours))}, local: 1},
		{name: "every answered form", steps: []step{
			say(Query("select public.next_snowflake() AS id;")),
			say(Query(`SELECT next_snowflake()::text "Id", next_snowflake()::int8, public.next_snowflake()`)),
			say(Query("SELECT next_snowflake() FROM generate_series(1, 12) g(i)")),
			say(Query("SELECT * FROM next_snowflakes(3)")),
			say(Query("SELECT * FROM next_snowflakes(2) x; -- why")),
			say(Query("SELECT * FROM next_snowflakes(2) AS x(id)")),
			say(Query("SELECT * FROM next_snowflakes( '4' )")),
			say(Query("SELECT next_snowflake() FROM generate_series(1, '05')")),
			say(Query("select * from next_snowflake() as result")),
			say(Query("SELECT * FROM public.next_snowflake()")),
			say(Query("SELECT * FROM next_snowflake() AS x(id)")),
			say(Query("SELECT CAST(next_snowflake() AS BIGINT), cast(next_snowflake() AS text) t")),
		}, local: 1 + 3 + 12 + 3 + 2 + 2 + 4 + 5 + 3 + 2},
		{name: "however it is written", steps: []step{
			say(Query("--a\r/* b /* c */ */ sElEcT\tPublic . \"next_snowflake\" ( ) :: TEXT As \"a\"\"B\" ; -- d")),
			say(Query("SELECT next_snowflake()is, next_snowflake() AS from, next_snowflake()\"\fx\", " +
				"next_snowflake() id$1")),
			say(Query("SELECT*FROM next_snowflakes(0002)\"Id\"")),
			say(Query("SELECT */**/FROM next_snowflakes(1)as t(key)")),
			say(Query("select next_snowflake() name from generate_series(1,2)values(\"X\")")),
		}, local: 1 + 4 + 2 + 1 + 2},
		{name: "what is no answered form is forwarded", steps: []step{
			say(Query("SELECT next_snowflake() WHERE true")),
			say(Query("SELECT next_snowflake(); SELECT next_snowflake()")),
			say(Query("SELECT next_snowflake(1)")),
			say(Query("SELECT * FROM next_snowflakes(0)")),
			say(Query("SELECT * FROM next_snowflakes($1)")),
		}},
		{name: "status bytes", steps: []step{
			say(Query(ours)), say(Query("BEGIN")), say(Query(ours)), say(Query("SELECT 1/0")), say(Query(ours)),
			say(Query("ROLLBACK")), say(Query(ours)),
		}, local: 3},
	})
}
