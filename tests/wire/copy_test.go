package wire

import "testing"

func TestCopyGoesAsWithPostgreSQL(t *testing.T) {
	t.Parallel()
	table := say(Query("CREATE TEMP TABLE t (a int)"))
	in := "COPY t FROM STDIN"
	extendedIn := []message{Parse("", in), Bind("", ""), Execute("")}
	data := []message{copyLine("1"), copyLine("2")}
	rest := together(Query(ours), request(ours), Sync, Query("SELECT count(*) FROM t"))
	many := make(step, 1<<14-1)
	for i := range many {
		many[i] = Sync
	}
	local, bindRun := together(request(ours), Sync), together(Bind("", ""), Execute(""), Sync)
	theirs := together(request("SELECT 1"), Sync)
	checkAll(t, []conversation{
		{name: "in, and a batch right behind it", steps: []step{
			table, theirs, local, together(Query(in), request("SELECT 2"), Sync), bindRun, rest,
		}, local: 1},
		{name: "in, and a batch right behind it that uses what an answered one made", steps: []step{
			table, say(Query("BEGIN")), theirs, local, together(Query(in), Sync, bindRun), say(Query("ROLLBACK")), rest,
		}, local: 1},
		{name: "in, and a portal of before the answered batch right behind it", steps: []step{
			table, say(Query("BEGIN")), say(Parse("", "INSERT INTO t VALUES (1)"), Bind("", ""), Sync), local,
			together(Query(in), Flush, Execute(""), Sync, Execute(""), Sync), say(Query("ROLLBACK")), rest,
		}, local: 1},
		{name: "in, and its data and a batch right behind it", steps: []step{
			table, theirs, local, together(Query("SELECT 1; "+in), data, CopyDone, request("SELECT 2"), Sync), bindRun,
			rest,
		}, local: 3},
		{name: "in, of a table that is not there, and a batch right behind it", steps: []step{
			theirs, local, together(Query("COPY nothing FROM STDIN"), request("SELECT 2"), Sync), bindRun,
			say(Query("BEGIN")), say(Parse("", "SELECT 3"), Bind("", ""), Sync), local,
			together(Query("COPY nothing FROM STDIN"), bindRun), say(Query("ROLLBACK")),
			together(request(ours), Sync),
		}, local: 3},
		{name: "in, and a FunctionCall right behind it", steps: []step{
			table, theirs, local, together(Query(in), FunctionCall(int4um, "5"), FunctionCall(int4um, "6")), rest,
		}, local: 1},
		{name: "out, and a batch right behind it", steps: []step{
			theirs, local, together(Query("COPY (SELECT 1) TO STDOUT"), bindRun), local,
			together(Query("/* COPY */"), bindRun), local,
			together(Query("SELECT 1 AS copy"), Query("SELECT 2"), theirs, bindRun),
		}, local: 3},
		{name: "in, and a use of an answered statement behind it", steps: []step{
			table, local, say(Query(in)), together(copyLine("1"), CopyDone, Sync, bindRun), local, say(Query(in)),
			together(Sync, CopyDone, bindRun), rest,
		}, local: 2},
		{name: "extended in, and a use of its statement behind it", steps: []step{
			table, local, say(Parse("", in), Bind("c", ""), Execute("c"), Flush),
			together(Sync, copyLine("1"), CopyDone, DescribeStatement(""), Sync), rest,
			say(Parse("s", in), Bind("c", "s"), Execute("c"), Flush), together(Sync, CopyDone, bindRun), rest,
		}, local: 1},
		{name: "extended in, more Syncs ignored than anybody sends", steps: []step{
			table, together(extendedIn, Flush), many, say(CopyDone), together(request(ours), Sync), rest,
		}},
		{name: "extended in, and the portal of an answered request behind it", steps: []step{
			table, together(request(ours), Parse("", in), Bind("c", ""), Execute("c"), Sync, copyLine("1"), CopyDone,
				Execute(""), Sync), rest,
		}},
		{name: "in", steps: []step{table, say(Query(in)), together(data), say(CopyDone), rest}, local: 2},
		{name: "in, in one breath", steps: []step{
			table, together(Query(in), data, CopyDone, Query(ours)), rest,
		}, local: 2},
		{name: "in, given up", steps: []step{
			table, say(Query(in)), together(data, CopyFail("enough")), rest,
		}, local: 2},
		{name: "in, of bad data", steps: []step{
			table, say(Query(in)), say(copyLine("x"), copyLine("1"), CopyDone), rest,
		}, local: 2},
		{name: "in, of bad data in one breath", steps: []step{
			table, say(Query(in), copyLine("x"), copyLine("1"), CopyDone, Query(ours)), rest,
		}, local: 2},
		{name: "in, of no data", steps: []step{table, say(Query(in), CopyDone), rest}, local: 2},
		{name: "in, of a table that is not there", steps: []step{
			together(Query("COPY nothing FROM STDIN"), data, CopyDone), say(Query(ours)),
		}, local: 1},
		{name: "in, twice in one Query", steps: []step{
			table, say(Query(in + "; SELECT 1; " + in)), together(data, CopyDone), together(data, CopyDone), rest,
		}, local: 2},
		{name: "in, with Flush and Sync within", steps: []step{
			table, say(Query(in)), say(copyLine("1"), Flush, Sync, copyLine("2"), Sync, CopyDone), rest,
		}},
		{name: "in, with a Query within", steps: []step{table, say(Query(in)), say(copyLine("1"), Query(ours))}},
		{name: "in, with a Parse within", steps: []step{
			table, say(Query(in)), say(copyLine("1"), Parse("", ours), Sync),
		}},
		{name: "stray copy messages", steps: []step{
			say(copyLine("1"), CopyDone, CopyFail("x"), Query(ours)),
			together(request(ours), CopyDone, request(ours), copyLine("1"), Sync),
		}, local: 1},
		{name: "out", steps: []step{
			say(Query("COPY (SELECT next_snowflake() FROM generate_series(1, 3)) TO STDOUT")), say(Query(ours)),
			together(request("COPY (SELECT generate_series(1, 3)) TO STDOUT"), Sync),
			together(request("COPY (SELECT 1/0) TO STDOUT"), Sync), say(Query(ours)),
		}, local: 2},
		{name: "out, in one breath with ours", steps: []step{together(Query("COPY (SELECT 1) TO STDOUT"), Query(ours),
			request("COPY (SELECT 1) TO STDOUT"), request(ours), Sync)}},
		{name: "extended in", steps: []step{
			table, together(extendedIn, Flush), together(data), say(CopyDone, Sync), rest,
		}},
		{name: "extended in, Sync right after Execute", steps: []step{
			table, together(extendedIn, Sync, data, CopyDone, Sync), rest,
		}},
		{name: "extended in, Sync right after Execute, waited for", steps: []step{
			table, together(extendedIn, Sync), together(data), say(CopyDone), say(Sync), rest,
		}},
		{name: "extended in, several Syncs ignored", steps: []step{
			table, together(extendedIn, Sync, Sync, Flush, data, Sync, CopyDone, Sync), rest,
		}},
		{name: "extended in, no Sync but the last", steps: []step{
			table, together(extendedIn, data, CopyDone, request(ours), Sync), rest,
		}},
		{name: "extended in, given up", steps: []step{
			table, together(extendedIn, Flush), together(data, CopyFail("enough"), Sync), rest,
		}},
		{name: "extended in, given up, Sync within", steps: []step{
			table, together(extendedIn, Sync), together(data, CopyFail("enough")), say(Sync), rest,
		}},
		{name: "extended in, of bad data", steps: []step{
			table, together(extendedIn, Flush), say(copyLine("x"), copyLine("1"), CopyDone, Sync), rest,
		}},
		{name: "extended in, of bad data, Sync within", steps: []step{
			table, together(extendedIn, Sync), say(copyLine("x"), copyLine("1"), CopyDone), say(Sync), rest,
		}},
		{name: "extended in, given up, several Syncs within", steps: []step{
			table, together(extendedIn, Sync, Sync, Flush), together(data, Sync, CopyFail("enough")), say(Sync),
			together(request(ours), Sync), rest,
		}},
		{name: "extended in, given up, several Syncs behind", steps: []step{
			table, together(extendedIn, Flush),
			together(data, CopyFail("enough"), Sync, Sync, request(ours), Sync), rest,
		}},
		{name: "extended in, of bad data, several Syncs within and behind", steps: []step{
			table, together(extendedIn, Sync, Sync), say(copyLine("x"), Sync, copyLine("1"), CopyDone, Sync, Sync),
			together(request(ours), Sync), rest,
		}},
		{name: "extended in, of bad data, several Syncs in one breath", steps: []step{
			table, together(extendedIn, Sync, copyLine("x"), Sync, CopyDone, Sync, Query(ours), Sync), rest,
		}},
		{name: "extended in, of a table that is not there, several Syncs", steps: []step{
			together(Parse("", "COPY nothing FROM STDIN"), Bind("", ""), Execute(""), Sync, data, Sync, CopyDone, Sync),
			say(Query(ours)),
		}, local: 1},
		{name: "extended in, with a Query within", steps: []step{
			table, together(extendedIn, Flush), say(copyLine("1"), Query("SELECT 1")), say(Sync),
		}},
		{name: "extended in, in one batch with ours", steps: []step{
			table, together(request(ours), extendedIn, Flush), together(data, CopyDone, request(ours), Sync), rest,
		}},
		{name: "extended in, behind an error", steps: []step{
			table, together(request(divide), extendedIn, data, CopyDone, Sync), rest,
		}, local: 2},
	})
}

// copyLine is one row of COPY's text format.
func copyLine(value string) message { return CopyData(value + "\n") }
