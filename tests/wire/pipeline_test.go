package wire

import "testing"

// After the first Execute of a batch PostgreSQL runs the rest as in a transaction, up to the Sync. Since 18 it does so
// as in a transaction block. So if the proxy forwards a part of a batch, it must answer no part.
func TestABatchOfOursAndTheirsIsForwardedWhole(t *testing.T) {
	t.Parallel()
	setting := step{
		Query("CREATE TEMP TABLE t (a int)"),
		Query("CREATE PROCEDURE pg_temp.p() LANGUAGE plpgsql AS 'BEGIN COMMIT; END'"),
	}
	local := together(request(ours), Sync)
	var all []conversation
	for _, second := range []string{
		"LOCK TABLE t", "DECLARE c CURSOR FOR SELECT 1", "SET LOCAL work_mem = '1MB'", "SAVEPOINT a",
		"CALL pg_temp.p()", "VACUUM t", "DISCARD ALL", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "BEGIN",
		"COMMIT", "ROLLBACK", "COMMIT AND CHAIN", "PREPARE TRANSACTION 'x'", "INSERT INTO t VALUES (1)",
		"SELECT nonsense",
		"SELECT name FROM pg_prepared_statements UNION ALL SELECT name FROM pg_cursors WHERE name <> ''",
	} {
		all = append(all, conversation{name: second, steps: []step{
			setting, local, together(request(ours), request(second), request("SELECT 2"), Sync),
			together(request(second), Sync), say(Query("ROLLBACK")), local,
			together(request(ours), request(ours), Flush), together(request(second), Sync),
			together(request(second), Sync), say(Query("ROLLBACK")),
		}, local: 2, brief: true})
	}
	lock := request("LOCK TABLE t")
	checkAll(t, append(all,
		conversation{
			name: "behind an answered Query", steps: []step{setting, together(Query(ours), lock, Sync)}, local: 1,
		},
		conversation{name: "behind an answered batch", steps: []step{
			setting, together(request(ours), Sync, lock, Sync), local,
		}, local: 2},
		conversation{name: "behind a Close", steps: []step{
			setting, together(request(ours), CloseStatement("s"), lock, Sync), local,
		}, local: 1},
		conversation{name: "behind an error", steps: []step{
			setting, together(request(ours), request("nonsense"), lock, Sync),
			together(request(ours), lock, Sync), local,
		}, local: 1},
		conversation{name: "behind a Query within the batch", steps: []step{
			setting, local, together(request(ours), Query("SELECT 1"), lock, Sync), local,
		}, local: 1},
		conversation{name: "behind a FunctionCall within the batch", steps: []step{
			setting, local, together(request(ours), FunctionCall(int4um, "5"), lock, Sync), local,
		}, local: 1},
		conversation{name: "as a named statement", steps: []step{
			setting, say(Parse("s", "LOCK TABLE t"), Sync), together(request(ours), Bind("p", "s"), Execute("p"), Sync),
			together(request(ours), DescribeStatement("s"), Sync), local,
		}, local: 1},
	))
}
