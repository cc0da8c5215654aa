package wire

import "testing"

// Behind the first Execute of a segment PostgreSQL judges as in a transaction, and since 18 as in a transaction block, up to the
// Sync. An Execute that was answered counts as well.
func TestAnAnsweredUnitIsTheFirstOfItsPipeline(t *testing.T) {
	setting := step{Query("CREATE TEMP TABLE t (a int)"), Query("CREATE PROCEDURE pg_temp.p() LANGUAGE plpgsql AS 'BEGIN COMMIT; END'")}
	var all []conversation
	for _, second := range []string{
		"LOCK TABLE t", "DECLARE c CURSOR FOR SELECT 1", "SET LOCAL work_mem = '1MB'", "SAVEPOINT a", "CALL pg_temp.p()", "VACUUM t", "DISCARD ALL",
		"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "BEGIN", "COMMIT", "ROLLBACK", "COMMIT AND CHAIN", "PREPARE TRANSACTION 'x'",
		"INSERT INTO t VALUES (1)", "SELECT nonsense", "SELECT name FROM pg_prepared_statements UNION ALL SELECT name FROM pg_cursors WHERE name <> ''",
	} {
		all = append(all, conversation{name: second, steps: []step{
			setting, together(unit(ours), Flush), together(unit(ours), unit(second), unit("SELECT 2"), Sync), together(unit(second), Sync), together(unit(ours), Query("ROLLBACK")),
		}, local: 3})
	}
	lock := unit("LOCK TABLE t")
	checkAll(t, append(all,
		conversation{name: "behind a Query, which ends the transaction", steps: []step{setting, together(unit(ours), Query("SELECT 1"), lock, Sync)}, local: 1},
		conversation{name: "behind an answered Query", steps: []step{setting, together(unit(ours), Query(ours), lock, Sync)}, local: 2},
		conversation{name: "behind a FunctionCall", steps: []step{setting, together(unit(ours), FunctionCall(int4um, "5"), lock, Sync)}, local: 1},
		conversation{name: "behind a Close", steps: []step{setting, together(unit(ours), CloseStatement("s"), lock, Sync)}, local: 1},
		conversation{name: "behind its Sync", steps: []step{setting, together(unit(ours), Sync, lock, Sync)}, local: 1},
		conversation{name: "behind an error", steps: []step{setting, together(unit(ours), unit("nonsense"), lock, Sync), together(unit(ours), lock, Sync)}, local: 2},
		conversation{name: "as a named statement", steps: []step{
			setting, say(Parse("s", "LOCK TABLE t"), Sync), together(unit(ours), Bind("p", "s"), Execute("p"), Sync), together(unit(ours), DescribeStatement("s"), Sync),
		}, local: 2},
	))
}
