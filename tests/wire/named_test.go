package wire

import (
	"strings"
	"testing"
)

func TestNamedStatementsAreThoseOfPostgreSQL(t *testing.T) {
	t.Parallel()
	prepared := say(Parse("s", ours), DescribeStatement("s"), Sync)
	run := say(Bind("", "s"), DescribePortal(""), Execute(""), Sync)
	checkAll(t, []conversation{
		{name: "prepared once, run often", steps: []step{
			prepared, run, run, say(Bind("", "s"), Execute(""), Bind("", "s"), Execute(""), Sync),
		}, local: 4},
		{name: "prepared without Describe", steps: []step{say(Parse("s", ours), Sync), run}, local: 1},
		{name: "prepared and run in one batch", steps: []step{
			say(Parse("s", ours), Bind("", "s"), Execute(""), Sync), run,
		}, local: 1},
		{name: "a named portal", steps: []step{
			prepared, say(Bind("p", "s"), DescribePortal("p"), Execute("p"), Execute("p"), ClosePortal("p"), Sync), run,
		}, local: 1},
		{name: "two statements", steps: []step{
			prepared, say(Parse("t", "SELECT 5"), Sync), run, say(Bind("", "t"), Execute(""), Sync), run,
			say(Bind("", "s"), Execute(""), Bind("", "t"), Execute(""), Bind("", "s"), Execute(""), Sync),
		}, local: 2},
		{name: "a name twice", steps: []step{
			prepared, say(Parse("s", ours), Sync), run, say(Parse("s", "SELECT 1"), Sync), run,
		}},
		{name: "a name again after Close", steps: []step{
			prepared, say(ClosePortal("s"), Sync), say(ClosePortal("s"), ClosePortal("nobody"), ClosePortal(""), Sync),
			say(ClosePortal("x"), ClosePortal("x"), Sync), say(CloseStatement("s"), Sync), run,
			say(Parse("s", "SELECT 6"), Sync), run, say(CloseStatement("s"), Parse("s", ours), Sync), run,
		}, local: 1},
		{name: "Close of unknown names", steps: []step{
			say(CloseStatement("nobody"), ClosePortal("nobody"), CloseStatement(""), ClosePortal(""), Sync),
			say(Query(ours)),
		}, local: 1},
		{name: "Describe of unknown names", steps: []step{
			say(DescribeStatement("nobody"), Sync), say(DescribePortal("nobody"), Sync),
			say(DescribeStatement(""), Sync), say(DescribePortal(""), Sync), say(Query(ours)),
		}, local: 1},
		{name: "Bind of an unknown name", steps: []step{
			say(Bind("", "nobody"), Execute(""), Sync), say(Bind("", ""), Execute(""), Sync),
		}},
		{name: "Close closes the portals of a statement", steps: []step{
			say(Query("BEGIN")), prepared, say(Bind("", "s"), Execute(""), Sync), say(CloseStatement("s"), Sync),
			say(Bind("", "s"), Sync), say(Query("ROLLBACK")),
		}, local: 1},
		{name: "a failed Parse leaves the name free", steps: []step{
			say(Parse("s", "SELECT nonsense"), Sync), say(Bind("", "s"), Execute(""), Sync), prepared, run,
		}, local: 1},
		{name: "a Parse that was skipped", steps: []step{
			say(Parse("", "SELECT 1/0"), Bind("", ""), Execute(""), Parse("s", ours), Sync), run, prepared, run,
		}, local: 1},
		{name: "a Close that was skipped", steps: []step{
			prepared, say(Parse("", "SELECT 1/0"), Bind("", ""), Execute(""), CloseStatement("s"), Sync),
			say(DescribeStatement("s"), Sync),
			say(Query("EXECUTE s")),
		}},
		{name: "a duplicate Parse that was skipped", steps: []step{
			prepared, say(Parse("x", "SELECT nonsense"), Parse("s", "SELECT 5"), Sync), run,
		}, local: 0},
	})
}

func TestAStatementThatIsGoneIsNotAnsweredHoweverItWent(t *testing.T) {
	t.Parallel()
	prepared, run := say(Parse("s", ours), Sync), say(Bind("", "s"), Execute(""), Sync)
	const do = "DO $$BEGIN EXECUTE 'DEALLOCATE s'; RAISE division_by_zero; END$$"
	goes := func(text string) []step { return []step{prepared, run, together(request(text), Sync), run} }
	slashed := []step{say(Parse(`\`, ours), Sync), say(Bind("", `\`), Execute(""), Sync)}
	wide := []string{"client_encoding", "SHIFT_JIS_2004"} // these two bytes are a backslash in it
	checkAll(t, []conversation{
		{name: "a DO that fails", steps: goes(do), local: 1},
		{name: "behind an empty statement", steps: goes(" ;\n; " + do), local: 1},
		{name: "behind more space than the buffer holds", steps: goes(strings.Repeat(" ", 20<<10) + do), local: 1},
		{name: "behind a longer comment", steps: goes("--" + strings.Repeat("x", 20<<10) + "\n" + do), local: 1},
		{name: "a long statement of another kind", steps: []step{
			prepared, run, together(request("SELECT '"+strings.Repeat("x", 20<<10)+"'::int"), Sync), run,
		}, local: 2},
		{name: "a Close by another spelling", with: wide, steps: append(slashed,
			say(CloseStatement("\x81\x5f"), Sync), slashed[1]), local: 1},
		{name: "a Close of another name", steps: append(slashed,
			say(CloseStatement("/"), Sync), slashed[1]), local: 2},
	})
}

func TestSQLSeesTheStatementsTheProxyAnswers(t *testing.T) {
	t.Parallel()
	prepared := say(Parse("s", ours), DescribeStatement("s"), Sync)
	run := say(Bind("", "s"), DescribePortal(""), Execute(""), Sync)
	checkAll(t, []conversation{
		{name: "EXECUTE", steps: []step{prepared, run, say(Query("EXECUTE s")), run}, local: 2},
		{name: "pg_prepared_statements", steps: []step{
			prepared, run, together(request(ours), Sync),
			say(Query("SELECT name, statement, parameter_types FROM pg_prepared_statements")), run,
		}, local: 3},
		{name: "DEALLOCATE", steps: []step{prepared, run, say(Query("DEALLOCATE s")), run, prepared, run}, local: 2},
		{name: "DEALLOCATE ALL", steps: []step{
			prepared, run, say(Query("DEALLOCATE ALL")), run, prepared, run,
		}, local: 2},
		{name: "DEALLOCATE of another", steps: []step{
			prepared, say(Parse("t", ours), Sync), run, say(Query("DEALLOCATE t")), run,
			say(Bind("", "t"), Execute(""), Sync),
		}, local: 1},
		{name: "DEALLOCATE by the extended protocol", steps: []step{
			prepared, run, together(request("DEALLOCATE s"), Sync), run,
		}, local: 1},
		{name: "DEALLOCATE within a batch, then used", steps: []step{
			prepared, together(request("DEALLOCATE s"), run),
			together(request("DEALLOCATE ALL"), Parse("s", ours), Sync), run,
		}},
		{name: "DISCARD ALL", steps: []step{prepared, run, say(Query("DISCARD ALL")), run, prepared, run}, local: 2},
		{name: "DISCARD ALL keeps nothing unnamed", steps: []step{
			together(request(ours), Sync), say(Query("DISCARD ALL")), say(Bind("", ""), Execute(""), Sync),
		}, local: 1},
		{name: "DISCARD ALL by the extended protocol", steps: []step{
			together(request(ours), Sync), together(request("DISCARD ALL"), Sync), say(Bind("", ""), Execute(""), Sync),
		}, local: 1},
		{name: "DISCARD PLANS drops nothing", steps: []step{prepared, run, say(Query("DISCARD PLANS")), run}, local: 2},
		{name: "PREPARE in SQL, run by protocol", steps: []step{
			say(Query("PREPARE s AS SELECT next_snowflake()")), run, say(Query("PREPARE s AS SELECT 1")),
			say(Query("DEALLOCATE s")), run,
		}},
		{name: "a name freed by SQL and taken by SQL", steps: []step{
			prepared, say(Query("DEALLOCATE s; PREPARE s AS SELECT 5")), run,
		}},
		{name: "a rollback does not free names", steps: []step{
			say(Query("BEGIN")), prepared, run, say(Query("ROLLBACK")), run,
		}, local: 2},
		{name: "DECLARE and FETCH", steps: []step{
			say(Query("BEGIN")), say(Query("DECLARE c CURSOR FOR SELECT next_snowflake() FROM generate_series(1, 3)")),
			together(request(ours), Sync), say(Query("FETCH 2 FROM c")), say(Query(ours)),
			say(ExecuteMax("c", 1), Sync), say(Query("COMMIT")),
		}, local: 2},
		{name: "a function of another schema shadows nothing that is qualified", steps: []step{
			say(Query("SELECT public.next_snowflake()")), together(request("SELECT public.next_snowflake()"), Sync),
		}, local: 2},
	})
}
