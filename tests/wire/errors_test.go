package wire

import "testing"

const divide = "SELECT 1/0"

func TestErrorsSkipToSync(t *testing.T) {
	t.Parallel()
	checkAll(t, []conversation{
		{name: "ours behind an error", steps: []step{
			together(request(divide), request(ours), Sync), together(request(ours), Sync),
		}, local: 1},
		{name: "ours before an error", steps: []step{
			together(request(ours), request(divide), request(ours), Sync), say(Query(ours)),
		}, local: 1},
		{name: "an error, waited for before Sync", steps: []step{
			together(request(divide)), say(Query(ours), Flush), together(request(ours)), say(Sync), say(Query(ours)),
		}},
		{name: "ours, then an error, each flushed", steps: []step{
			together(request(ours), Flush), together(Parse("", "nonsense"), Flush),
			together(request(ours), Flush, Query(ours)), say(Sync), together(request(ours), Sync),
		}},
		{name: "a Query between the error and Sync is skipped", steps: []step{
			together(request(divide), Query("SELECT 1"), Query(ours), Sync), say(Query(ours)),
		}},
		{name: "two Syncs after an error", steps: []step{
			together(request(divide), Sync, Sync, request(ours), Sync), together(request(ours), Sync),
		}, local: 1},
		{name: "an error in Bind, Describe, Execute, Close", steps: []step{
			say(Bind("", "nobody"), Execute(""), Sync),
			say(DescribeStatement("nobody"), DescribePortal("nobody"), Sync), say(Execute("nobody"), Sync),
			say(Raw('C', "X\x00"), Sync), say(Raw('D', "X\x00"), Sync), together(request(ours), Sync),
		}, local: 1},
		{name: "messages that are malformed", steps: []step{
			say(Raw('B', "\x00\x00\x00\x01"), Sync), say(Raw('B', "\x00\x00\x00\x00\x00\x00\x00\x00!"), Sync),
			say(Raw('E', "\x00\x00"), Sync), say(Raw('P', "\x00"+ours+"\x00\x00\x00\x00"), Sync),
			say(Raw('P', "\x00"+ours+"\x00\x00\x01"), Sync), say(Raw('P', "\x00"+ours), Sync), say(Raw('D', "P"), Sync),
			say(Raw('C', "P\x00\x00"), Sync), say(Raw('Q', ours)),
			say(Raw('Q', ours+"\x00\x00")), say(Raw('Q', "")),
			say(Query(ours)),
		}, local: 1},
		{name: "a message of no type that there is", steps: []step{
			together(request(ours), Sync), say(Raw('y', "what"), Query(ours)),
		}, local: 1},
		{name: "a password that nobody asked for", steps: []step{
			together(request(ours), Sync), say(Raw('p', "secret\x00"), Query(ours)),
		}, local: 1},
		{name: "a Sync and a Flush with contents", steps: []step{
			together(request(ours), Raw('S', "x")), say(Sync), together(request(ours), Raw('H', "x")), say(Sync),
			together(request(ours), Sync), together(request(ours), Raw('H', "x"), Execute(""), Sync),
			together(request(ours), Sync),
		}, local: 2},
		{name: "an error in a Query does not skip", steps: []step{
			say(Query(divide), Query("SELECT 1"), Query(ours)), say(Query(ours)),
		}, local: 1},
		{name: "an error within the statements of a Query", steps: []step{
			say(Query("SELECT 1; SELECT 1/0; SELECT 2")), say(Query(ours)),
		}, local: 1},
	})
}

func TestFailedTransactionsGoAsWithPostgreSQL(t *testing.T) {
	t.Parallel()
	run := say(Bind("", "s"), DescribePortal(""), Execute(""), Sync)
	checkAll(t, []conversation{
		{name: "Query", steps: []step{
			say(Query("BEGIN")), say(Query(ours)), say(Query(divide)), say(Query(ours)), say(Query(ours + "; " + ours)),
			say(Query("ROLLBACK")), say(Query(ours)),
		}, local: 2},
		{name: "requests", steps: []step{
			say(Query("BEGIN")), together(request(ours), Sync), together(request(divide), Sync),
			together(request(ours), Sync), say(Parse("", ours), Sync),
			say(Bind("", ""), Sync), say(Execute(""), Sync), together(request("ROLLBACK"), Sync),
			together(request(ours), Sync),
		}, local: 2},
		{name: "a named statement", steps: []step{
			say(Parse("s", ours), DescribeStatement("s"), Sync), say(Query("BEGIN")), run, say(Query(divide)), run,
			say(DescribeStatement("s"), Sync), say(CloseStatement("s"), Sync), say(Query("ROLLBACK")), run,
		}, local: 1},
		{name: "in one breath", steps: []step{
			together(Query("BEGIN; SELECT 1/0"), Query(ours), request(ours), Sync, Query("ROLLBACK"), Query(ours)),
			say(Query("BEGIN; SELECT 1/0"), Query(ours)), together(request(ours), Sync), say(Query("ROLLBACK")),
			say(Query(ours)),
		}, local: 1},
		{name: "the transaction fails in the batch of ours", steps: []step{
			say(Query("BEGIN")), together(request(ours), request(divide), request(ours), Sync),
			together(request(ours), Sync), say(Query("COMMIT")), say(Query(ours)),
		}, local: 1},
		{name: "savepoints", steps: []step{
			say(Query("BEGIN")), say(Query("SAVEPOINT a")), say(Query(ours)), say(Query(divide)), say(Query(ours)),
			say(Query("ROLLBACK TO a")), say(Query(ours)), together(request(ours), Sync), say(Query("COMMIT")),
			say(Query(ours)),
		}, local: 4},
		{name: "a savepoint released within the batch, as Postgrex does", steps: []step{
			say(Query("BEGIN")), together(Query("SAVEPOINT a"), request(ours), Query("RELEASE SAVEPOINT a"), Sync),
			together(request(divide), Query("RELEASE SAVEPOINT a"), Sync), say(Query("ROLLBACK")), say(Query(ours)),
		}},
		{name: "implicit transactions", steps: []step{
			say(Query("CREATE TEMP TABLE t (id bigint)")),
			together(request("INSERT INTO t VALUES (1)"), request(divide), Sync), together(request("TABLE t"), Sync),
			together(request("INSERT INTO t VALUES (2)"), request(ours), request(divide), Sync),
			together(request("TABLE t"), Sync), together(request(ours), request("INSERT INTO t VALUES (3)"), Sync),
			say(Query("TABLE t")),
			together(request("BEGIN"), request("INSERT INTO t VALUES (4)"), request(ours), request("COMMIT"), Sync),
			say(Query("TABLE t")),
		}},
	})
}

// The next forwarded batch ends the portal of an answered batch, and an older portal, even if that batch fails. None of
// the Queries here may fail while it runs: see crashes.
func TestThePortalOfAnAnsweredBatchIsThatOfPostgreSQLInAFailedTransaction(t *testing.T) {
	t.Parallel()
	begin, local := say(Query("BEGIN")), together(request(ours), Sync)
	use := together(DescribePortal(""), Sync, Execute(""), Sync)
	behind := func(name string, steps ...step) conversation {
		rest := append(steps, use, say(ClosePortal(""), Sync), use, say(Query("ROLLBACK")), say(Query(ours)))
		return conversation{name: name, steps: append([]step{begin, local}, rest...), local: 2, brief: true}
	}
	older := func(name string, steps ...step) conversation {
		c := behind(name, steps...)
		c.name += ", with an older portal upstream"
		c.steps = append([]step{say(Query("BEGIN")), say(Parse("", "ROLLBACK"), Bind("", ""), Sync)}, c.steps[1:]...)
		return c
	}
	var all []conversation
	for _, way := range []func(string, ...step) conversation{behind, older} {
		all = append(all,
			way("a Query that cannot be read", say(Query("nonsense"))),
			way("a Query that cannot be planned", say(Query(divide))),
			way("a Query whose second statement fails", say(Query("SELECT 1; SELECT 1/0"))),
			way("a Query with contents after its text", say(Raw('Q', "SELECT 1\x00\x00"))),
			way("a failed transaction's Query", say(Query(divide)), say(Query("SELECT 1"))),
			way("an empty Query", say(Query("")), say(Query(divide))),
			way("a Bind of a statement that is not there", say(Bind("", "nobody"), Execute(""), Sync)),
			way("a Bind of too many parameters",
				say(Parse("", "SELECT 1"), BindValues("", "", nil, values{[]byte("1")}), Execute(""), Sync)),
			way("a Bind of a parameter that cannot be read",
				say(Parse("", "SELECT $1::int"), BindValues("", "", nil, values{[]byte("x")}), Sync)),
			way("a Bind of too many formats", say(Parse("", "SELECT 1"), Bind("", "", 0, 0), Execute(""), Sync)),
			way("a Bind that cannot be planned", say(Parse("", divide), Bind("", ""), Execute(""), Sync)),
			way("a failed transaction's Bind", say(Query(divide)), say(Parse("", "SELECT 1"), Bind("", ""), Sync),
				say(Bind("", ""), Sync)),
			way("a Bind that is skipped", say(Bind("x", "nobody"), Bind("", ""), ClosePortal(""), Sync)),
			way("a Query and its use in one batch", say(Query(divide), DescribePortal(""), Sync)),
		)
	}
	checkAll(t, append(all,
		conversation{name: "an empty Query, and no failure", steps: []step{
			begin, local, say(Query("")), use, say(Query(" ; ")), use, say(Query("COMMIT")),
		}, local: 1},
	))
}

// These functions are called by OID, as libpq calls lo_open and its like.
const (
	int4pl = 177
	int4um = 212
	// queryToXML runs a text.
	queryToXML = 2924
)

func TestFunctionCallsAreAnsweredAsByPostgreSQL(t *testing.T) {
	t.Parallel()
	open, commit := say(Query("BEGIN")), say(Query("COMMIT"))
	local := together(request(ours), Sync)
	suspended := say(Parse("", "TABLE t"), Bind("", ""), ExecuteMax("", 1), Sync)
	table := say(Query("CREATE TEMP TABLE t AS SELECT generate_series(1, 3)"),
		Query("CREATE FUNCTION pg_temp.truncate() RETURNS int LANGUAGE plpgsql AS 'BEGIN TRUNCATE t; RETURN 1; END'"))
	// It says 55006 if a portal has the table open.
	truncate := say(FunctionCall(queryToXML, "SELECT pg_temp.truncate()", "f", "f", ""))
	checkAll(t, []conversation{
		{name: "among ours", steps: []step{
			say(Query(ours)), say(FunctionCall(int4pl, "3", "4")), say(Query(ours)), together(request(ours), Sync),
			say(FunctionCall(int4um, "5")),
		}, local: 3},
		{name: "in one breath", steps: []step{
			together(FunctionCall(int4pl, "3", "4"), Query(ours), FunctionCall(int4um, "1"), request(ours), Sync),
		}},
		{name: "behind an answered batch, of what finds no portal of before it", steps: []step{
			table, open, suspended, local, truncate, commit,
			open, suspended, say(Query(ours)), together(truncate, commit),
			open, suspended, local, together(Sync, truncate), local, truncate, suspended, truncate, commit,
			open, suspended, local, together(Query(""), truncate), say(Query("ROLLBACK")),
			open, suspended, local, together(Query("nonsense"), truncate, commit), local, truncate, local,
		}, local: 8},
		{name: "that fails", steps: []step{
			say(FunctionCall(int4pl, "3", "x")), say(FunctionCall(1, "3")), say(Query(ours)),
		}, local: 1},
		{name: "in a failed transaction", steps: []step{
			say(Query("BEGIN; SELECT 1/0")), say(FunctionCall(int4pl, "3", "4")), say(Query("ROLLBACK")),
			say(Query(ours)),
		}, local: 1},
		{name: "within a batch", steps: []step{
			together(request(ours), FunctionCall(int4pl, "1", "1"), Sync),
			together(request("SELECT 1"), FunctionCall(int4pl, "1", "1"), Sync), say(Query(ours)),
		}},
		{name: "behind an error", steps: []step{
			together(request(divide), FunctionCall(int4pl, "1", "1"), Sync), say(Query(ours)),
		}},
	})
}
