package wire

import "testing"

// request returns the messages by which a driver runs one statement, up to the Sync.
func request(sql string, formats ...int16) []message {
	return []message{Parse("", sql), Bind("", "", formats...), DescribePortal(""), Execute("")}
}

// together joins messages and requests into one step.
func together(parts ...any) (all step) {
	for _, part := range parts {
		switch part := part.(type) {
		case message:
			all = append(all, part)
		case []message:
			all = append(all, part...)
		case step:
			all = append(all, part...)
		}
	}
	return all
}

func TestRequestsAreAnsweredAsByPostgreSQL(t *testing.T) {
	t.Parallel()
	checkAll(t, []conversation{
		{name: "Parse, Bind, Describe, Execute, Sync", steps: []step{together(request(ours), Sync)}, local: 1},
		{name: "without Describe, then without Parse", steps: []step{
			say(Parse("", ours), Bind("", ""), Execute(""), Sync),
			say(Bind("", ""), Execute(""), Sync),
			say(Bind("", ""), DescribePortal(""), Execute(""), Sync),
		}, local: 3},
		{name: "several requests in one batch", steps: []step{
			together(request(ours), request(ours), request(ours), Sync),
		}, local: 3},
		{name: "one Parse, several Binds", steps: []step{
			say(Parse("", ours), Bind("", ""), Execute(""), Bind("", ""), Execute(""), Bind("", ""), DescribePortal(""),
				Execute(""), Sync),
		}, local: 3},
		{name: "a batch without Sync, and its Sync later", steps: []step{
			together(request(ours)), say(Sync), say(Query(ours)),
		}, local: 2},
		{name: "message by message", steps: []step{
			say(Parse("", ours)), say(Bind("", "")), say(DescribePortal("")), say(Execute("")), say(Sync),
		}, local: 1},
		{name: "Flush after the request", steps: []step{
			together(request(ours), Flush), together(request(ours), Flush), say(Flush), say(Sync),
		}},
		{name: "Flush within the request", steps: []step{
			say(Parse("", ours), Flush), say(Bind("", ""), DescribePortal(""), Flush),
			say(Execute(""), Flush), say(Sync),
			together(request(ours), Sync),
		}, local: 1},
		{name: "Flush before Execute", steps: []step{say(Parse("", ours), Bind("", ""), Flush, Execute(""), Sync)}},
		{name: "Sync and Flush on their own", steps: []step{
			say(Sync), say(Flush, Sync), say(Sync, Sync), say(Query(ours)),
		}, local: 1},
		{name: "all answered forms", steps: []step{
			together(request("SELECT public.next_snowflake() AS a, next_snowflake()::text b"), Sync),
			together(request("SELECT next_snowflake() FROM generate_series(1, 5)"), Sync),
			together(request("select * from next_snowflakes(4) x;"), Sync),
		}, local: 2 + 5 + 4},
		{name: "statements of the client's own", steps: []step{
			together(request("SELECT 1"), Sync), together(request(""), Sync), together(request("BEGIN"), Sync),
			together(request("COMMIT"), Sync), together(request("SELECT"), Sync),
			together(request("SELECT next_snowflake() LIMIT 1"), Sync),
		}},
		{name: "a request of two statements is an error", steps: []step{
			together(request("SELECT next_snowflake(); SELECT 1"), Sync),
		}},
		{name: "one request of theirs has the batch forwarded, wherever it stands", steps: []step{
			together(request(ours), request("SELECT 1"), request(ours), Sync),
			together(request("SELECT 1"), request(ours), Sync),
			together(request(ours), request(ours), request("SELECT 1"), Sync),
		}},
		{name: "a request broken off by another Parse", steps: []step{
			say(Parse("", ours), Parse("", "SELECT 1"), Bind("", ""), Execute(""), Sync),
		}},
		{name: "a request broken off by another Bind", steps: []step{
			say(Parse("", ours), Bind("", ""), Bind("", ""), Execute(""), Sync),
		}},
		{name: "a request broken off by Sync", steps: []step{
			say(Parse("", ours), Sync), say(Bind("", ""), Sync), say(Execute(""), Sync),
			say(Bind("", ""), Execute(""), Sync),
		}, local: 1},
		{name: "a request broken off by Query", steps: []step{
			say(Parse("", ours), Query(ours)), say(Sync), say(Parse("", ours), Bind("", ""), Query("SELECT 1")),
			say(Execute(""), Sync),
		}},
		{name: "Describe twice, and Describe of the statement within", steps: []step{
			say(Parse("", ours), Bind("", ""), DescribePortal(""), DescribePortal(""), Execute(""), Sync),
			say(Parse("", ours), DescribeStatement(""), Bind("", ""), Execute(""), Sync),
			say(Parse("", ours), DescribeStatement(""), Sync), say(Bind("", ""), Execute(""), Sync),
		}, local: 2},
		{name: "Terminate after a request without Sync is no answered batch", steps: []step{
			together(request(ours), Flush),
		}},
	})
}

func TestOneBindGivesItsIDsOnce(t *testing.T) {
	t.Parallel()
	checkAll(t, []conversation{
		{name: "Execute again", steps: []step{together(request(ours), Execute(""), Execute(""), Sync)}},
		{name: "Execute again with a limit", steps: []step{
			together(request(ours), ExecuteMax("", 1), ExecuteMax("", 5), Sync),
		}},
		{name: "Describe and Close of the finished portal", steps: []step{
			together(request(ours), DescribePortal(""), Execute(""), ClosePortal(""), Sync),
			together(request(ours), ClosePortal(""), Execute(""), Sync),
			together(request(ours), ClosePortal(""), ClosePortal(""), DescribePortal(""), Sync),
		}},
		{name: "exactly max_rows suspends", steps: []step{
			say(Parse("", ours), Bind("", ""), ExecuteMax("", 1), ExecuteMax("", 1), Sync),
			say(Parse("", ours), Bind("", ""), ExecuteMax("", 1), Execute(""), Sync),
			say(Parse("", ours), Bind("", ""), DescribePortal(""), ExecuteMax("", 1), Flush),
			say(ExecuteMax("", 1), DescribePortal(""), Sync),
			say(ExecuteMax("", 1), Sync),
		}},
		{name: "a portal suspended at its end lives to the end of the transaction", steps: []step{
			say(Query("BEGIN")), say(Parse("", ours), Bind("", ""), ExecuteMax("", 1), Sync),
			say(ExecuteMax("", 1), Sync), say(DescribePortal(""), Sync),
			say(Query("SELECT 1")), say(ExecuteMax("", 1), Sync), say(Query("ROLLBACK")),
			say(Query("BEGIN")), say(Parse("", ours), Bind("", ""), ExecuteMax("", 1), Sync), say(Query("COMMIT")),
			say(ExecuteMax("", 1), Sync),
		}, local: 2},
		{name: "a portal suspended at its end in a transaction that fails", steps: []step{
			say(Query("BEGIN")),
			say(Parse("", ours), Bind("", ""), ExecuteMax("", 1), Parse("bad", "SELECT 1/0 FROM"), Sync),
			say(ExecuteMax("", 1), Sync), say(Query("ROLLBACK")),
		}},
		{name: "fewer than max_rows completes", steps: []step{
			say(Parse("", ours), Bind("", ""), ExecuteMax("", 2), Sync),
		}, local: 1},
		{name: "negative max_rows", steps: []step{say(Parse("", ours), Bind("", ""), ExecuteMax("", 1<<31), Sync)}},
		{name: "rows in parts", steps: []step{
			say(Parse("", "SELECT next_snowflake() FROM generate_series(1, 5)"), Bind("", ""), ExecuteMax("", 2),
				ExecuteMax("", 2), ExecuteMax("", 2), ExecuteMax("", 2), Sync),
			say(Bind("", ""), ExecuteMax("", 5), Execute(""), Sync),
			say(Bind("", ""), ExecuteMax("", 6), Execute(""), Sync),
		}},
		{name: "the portal lives to the end of the transaction", steps: []step{
			say(Query("BEGIN")), together(request(ours), Sync), say(Execute(""), Sync), say(DescribePortal(""), Sync),
			say(Execute(""), DescribePortal(""), Flush), say(Sync), say(Query("COMMIT")), say(Execute(""), Sync),
		}, local: 1},
		{name: "the portal ends with its batch outside a transaction", steps: []step{
			together(request(ours), Sync), say(Execute(""), Sync),
		}, local: 1},
		{name: "the portal ends with its batch, not with a block that begins behind it", steps: []step{
			together(request(ours), Sync), say(Parse("b", "BEGIN"), Bind("b", "b"), Execute("b"), Sync),
			say(Execute(""), Sync), say(Query("ROLLBACK")), together(request(ours), Bind("b", "b"), Execute("b"), Sync),
			say(Execute(""), Sync), say(Query("ROLLBACK")),
		}, local: 1},
		{name: "a COMMIT inside a procedure ends the portal", steps: []step{
			say(Query("CREATE OR REPLACE PROCEDURE commits() LANGUAGE plpgsql AS 'BEGIN COMMIT; END'")),
			together(request(ours), Parse("s", "CALL commits()"), Bind("x", "s"), Execute("x"), Execute(""), Sync),
			together(request(ours), Parse("d", "DO 'BEGIN COMMIT; END'"), Bind("x", "d"), Execute("x"),
				DescribePortal(""), Sync),
		}},
		{name: "in a block no procedure can end the portal", steps: []step{
			say(Query("BEGIN")), together(request(ours), Sync),
			say(Parse("d", "DO 'BEGIN NULL; END'"), Bind("x", "d"), Execute("x"), Execute(""), Sync),
			say(Execute(""), Sync), say(Query("ROLLBACK")),
		}, local: 1},
		{name: "Query ends the portal", steps: []step{
			say(Query("BEGIN")), together(request(ours), Sync), say(Query(ours)), say(Execute(""), Sync),
			say(Query("ROLLBACK")),
		}, local: 2},
		{name: "Close ends the portal", steps: []step{
			say(Query("BEGIN")), together(request(ours), Sync), say(ClosePortal(""), Sync), say(Execute(""), Sync),
			say(Query("ROLLBACK")),
		}, local: 1},
		{name: "the portal behind a copy that ignored its Sync", steps: []step{
			say(Query("CREATE TEMP TABLE t (a int)")), say(Query("BEGIN")), together(request(ours), Sync),
			say(Parse("", "COPY t FROM STDIN"), Bind("c", ""), Execute("c"), Sync, copyLine("1"), CopyDone,
				Execute(""), Sync),
			say(Parse("", "COPY t FROM STDIN"), Bind("", ""), Execute(""), Sync, copyLine("1"), CopyDone,
				DescribePortal(""), Execute(""), Sync),
		}, local: 1},
		{name: "Bind replaces the portal", steps: []step{
			say(Query("BEGIN")), together(request(ours), Sync), together(request("SELECT 7"), Sync),
			say(Execute(""), Sync), together(request(ours), Sync), say(Execute(""), Sync), say(Query("ROLLBACK")),
		}, local: 2},
		{name: "a suspended portal of the client's own", steps: []step{
			say(Query("BEGIN")), say(Parse("", "SELECT generate_series(1, 3)"), Bind("", ""), ExecuteMax("", 1), Sync),
			say(ExecuteMax("", 1), Sync), together(request(ours), Sync), say(Execute(""), Sync), say(Query("COMMIT")),
		}, local: 1},
		{name: "a suspended named portal lives on beside an answered request", steps: []step{
			say(Query("BEGIN")),
			say(Parse("", "SELECT generate_series(1, 3)"), Bind("p", ""), ExecuteMax("p", 1), Sync),
			together(request(ours), Sync), say(ExecuteMax("p", 1), Sync), say(Query("FETCH ALL FROM p")),
			say(ClosePortal("p"), Sync),
			say(Query("COMMIT")),
		}, local: 1},
	})
}
