package wire

import (
	"strings"
	"testing"
)

// After a local answer PostgreSQL's unnamed statement and portal are not those that the client has in mind. The next
// forwarded batch finds those of the answered batch if it begins with them. Otherwise it finds none, and never older
// ones.
func TestUnnamedObjectsAreThoseOfPostgreSQL(t *testing.T) {
	t.Parallel()
	theirs := say(Parse("", "SELECT 42"), Sync)
	bindRun := say(Bind("", ""), Execute(""), Sync)
	local := together(request(ours), Sync)
	table := say(Query("CREATE TEMP TABLE t AS SELECT generate_series(1, 3)"))
	suspended := say(Parse("", "TABLE t"), Bind("", ""), ExecuteMax("", 1), Sync)
	drop := say(Parse("d", "DROP TABLE t"), Bind("d", "d"), Execute("d"), Sync)
	long := strings.Repeat("x", 9000) // longer than the proxy's buffer
	checkAll(t, []conversation{
		{name: "a local Query destroys the statement: Bind", steps: []step{
			theirs, bindRun, say(Query(ours)), bindRun, say(Query(ours)),
		}, local: 2},
		{name: "a local Query destroys the statement: Describe", steps: []step{
			theirs, say(Query(ours)), say(DescribeStatement(""), Sync),
		}, local: 1},
		{name: "a local Query destroys the portal", steps: []step{
			say(Query("BEGIN")), say(Parse("", "SELECT 42"), Bind("", ""), Sync), say(Query(ours)),
			say(Execute(""), Sync), say(Query("ROLLBACK")), say(Query("BEGIN")),
			say(Parse("", "SELECT 42"), Bind("", ""), Sync), say(Query(ours)),
			say(DescribePortal(""), Sync), say(Query("ROLLBACK")),
			say(Query("BEGIN")), say(Parse("", "SELECT 42"), Bind("", ""), Sync), say(Query(ours)),
			say(ClosePortal(""), Sync), say(Query("ROLLBACK")),
		}, local: 3},
		{name: "a suspended portal behind which ours was answered holds no table", steps: []step{
			table, say(Query("BEGIN")), suspended, local, drop, say(Execute(""), DescribePortal(""), Sync),
			say(Query("ROLLBACK")), say(Query("BEGIN")), suspended, say(Query(ours)),
			together(drop[1:3], drop[1:3], Execute(""), Sync), say(Query("ROLLBACK")), say(Query("BEGIN")), suspended,
			local, together(drop[1:3], Execute(""), ClosePortal(""), Execute(""), Sync), say(Query("ROLLBACK")),
			say(Query("BEGIN")), say(Parse("", "TABLE t"), Bind("", ""), Sync), local, together(drop[1:3], Flush),
			together(request(ours), Sync), say(Query("ROLLBACK")),
			say(Query("BEGIN")), suspended, local, suspended, together(drop[1:]), say(Query("ROLLBACK")),
			say(Query("BEGIN")), suspended, local, together(suspended, drop[1:]), say(Query("ROLLBACK")),
			say(Query("BEGIN")), suspended, local, together(suspended, Sync, Execute("none"), Sync),
			say(Query("ROLLBACK")), say(Query("BEGIN")), suspended, local, say(Query("DROP TABLE t")),
			say(Query("ROLLBACK")),
		}, local: 8},
		{name: "a local Query leaves named portals and statements", steps: []step{
			say(Query("BEGIN")), say(Parse("s", "SELECT 42"), Bind("p", "s"), Sync), say(Query(ours)),
			say(Execute("p"), Sync), say(Bind("", "s"), Execute(""), Sync), say(Query("ROLLBACK")),
		}, local: 1},
		{name: "a local statement, described", steps: []step{
			local, say(DescribeStatement(""), Sync), local, say(DescribeStatement(""), Flush), say(Sync),
		}, local: 2},
		{name: "a local statement, bound to a named portal", steps: []step{
			local, say(Bind("p", ""), DescribePortal("p"), Execute("p"), Sync), bindRun,
			say(DescribeStatement(""), Sync),
		}, local: 2},
		{name: "a local statement, bound to a portal of a name that PostgreSQL cuts", steps: []step{
			local, say(Bind(long[:63], ""), Execute(long[:63]), Sync), local,
			say(Bind(long[:64], ""), DescribePortal(long[:63]), Execute(long[:64]), Sync), bindRun, local,
			say(Bind(long, ""), Execute(long), Sync), bindRun,
		}, local: 5},
		{name: "a local statement is gone behind a batch that begins without it", steps: []step{
			local, say(Parse("x", "SELECT 1"), Bind("", ""), DescribePortal(""), Execute(""), Sync), bindRun,
		}, local: 1},
		{name: "a local statement, bound with an error", steps: []step{
			local, say(Bind("", "", 0, 0), Sync), say(Bind("", "", 7), Execute(""), Sync), bindRun,
		}, local: 2},
		{name: "a local statement, executed with a limit", steps: []step{
			// as many as there are: the proxy answers, with PortalSuspended
			local, say(Bind("", ""), ExecuteMax("", 1), Sync), bindRun,
		}, local: 3},
		{name: "a local statement, closed", steps: []step{
			local, say(CloseStatement(""), Sync), bindRun, say(DescribeStatement(""), Sync),
		}, local: 1},
		{name: "a local statement, gone with a Query", steps: []step{
			local, say(Query("SELECT 1")), bindRun, say(DescribeStatement(""), Sync),
		}, local: 1},
		{name: "a local statement, gone with an empty Query", steps: []step{local, say(Query("")), bindRun}, local: 1},
		{
			name:  "a local statement, gone with a bad Query",
			steps: []step{local, say(Query("nonsense")), bindRun}, local: 1,
		},
		{name: "a local statement, gone with a bad Parse", steps: []step{
			local, say(Parse("", "nonsense"), Sync), bindRun,
		}, local: 1},
		{name: "a local statement is gone behind a named Parse", steps: []step{
			local, say(Parse("s", "SELECT 1"), Sync), bindRun,
		}, local: 1},
		{name: "a local statement is gone behind a bad named Parse", steps: []step{
			local, say(Parse("s", "nonsense"), Sync), bindRun,
		}, local: 1},
		{name: "a local statement is gone behind a skipped Parse", steps: []step{
			local, say(Parse("s", "nonsense"), Parse("", "SELECT 5"), Sync), bindRun, say(DescribeStatement(""), Sync),
		}, local: 1},
		{name: "a local statement is gone behind a skipped Query", steps: []step{
			local, say(Parse("s", "nonsense"), Query("SELECT 5"), Sync), bindRun, say(DescribeStatement(""), Sync),
		}, local: 1},
		{name: "a local statement is gone behind a rollback", steps: []step{
			say(Query("BEGIN")), local, say(Parse("c", "ROLLBACK"), Bind("c", "c"), Execute("c"), Sync), bindRun,
		}, local: 1},
		{name: "a local statement is gone behind a FunctionCall", steps: []step{
			local, say(FunctionCall(int4um, "5")), bindRun,
		}, local: 1},
		{name: "a local statement is gone behind a message that cannot be read", steps: []step{
			theirs, local, say(Raw('P', "\x00SELECT 1\x00"), Sync), bindRun, say(Raw('P', "\x00SELECT 1"), Sync),
			say(DescribeStatement(""), Sync), bindRun, local, say(Raw('Q', "SELECT 1\x00\x00")), bindRun,
			say(Raw('Q', "SELECT length('"+long+"')\x00\x00")),
			bindRun, say(Raw('Q', "SELECT length('"+long+"')")), bindRun,
			theirs, local,
			together(Raw('Q', "SELECT 1\x00\x00"), bindRun, Raw('Q', "SELECT 1"), DescribeStatement(""), Sync),
		}, local: 3},
		{name: "a local statement, gone with a long Query", steps: []step{
			local, say(Query("SELECT length('" + long + "')")), bindRun, local,
			together(Query("SELECT length('"+long+"')"), DescribeStatement(""), Sync),
			theirs, local, say(Query("SELECT '" + long + "' FROM nowhere")), bindRun,
			say(Query("SELECT '"+long+"' FROM nowhere"), Sync, DescribeStatement(""), Sync),
		}, local: 3},
		{name: "a local statement, gone with what runs and says it could not be read", steps: []step{
			local, say(Query("DO $$BEGIN RAISE 'no' USING errcode = '08P01'; END$$")), bindRun,
		}, local: 1},
		{name: "theirs, ours, theirs, ours", steps: []step{
			theirs, bindRun, local, bindRun, theirs, bindRun, bindRun, local, say(DescribeStatement(""), Sync), theirs,
			say(DescribeStatement(""), Sync),
		}, local: 3},
		{name: "mended and used in one breath with what went before", steps: []step{
			together(request(ours), Sync, Parse("", "SELECT 1"), Sync, Bind("", ""), Execute(""), Sync,
				DescribeStatement(""), Sync),
			together(request(ours), Sync, Query("SELECT 1"), Bind("", ""), Execute(""), Sync),
			together(request(ours), Sync, Parse("", "nonsense"), Sync, DescribeStatement(""), Sync),
			together(request(ours), Sync, Parse("x", "nonsense"), Parse("", "SELECT 3"), Sync, DescribeStatement(""),
				Bind("", ""), Execute(""), Sync),
		}, local: 4},
		{name: "a Query of ours, then theirs in one breath", steps: []step{
			together(theirs, Query(ours), bindRun, Query(ours), Query("SELECT 1"), DescribeStatement(""), Sync),
		}},
		{name: "unnamed statement of the failed transaction", steps: []step{
			say(Query("BEGIN")), local, say(Parse("x", "nonsense"), Sync), bindRun, say(DescribeStatement(""), Sync),
			say(ClosePortal(""), Sync), say(Query("ROLLBACK")), bindRun,
		}, local: 1},
		{name: "a statement parsed in a failed transaction", steps: []step{
			local, say(Query("BEGIN; SELECT 1/0")), say(Parse("", ours), Bind("", ""), Execute(""), Sync), bindRun,
			say(Query("ROLLBACK")), bindRun, local, bindRun,
		}, local: 3},
		{name: "Parse alone of ours", steps: []step{
			say(Parse("", ours), Sync), bindRun, say(DescribeStatement(""), Sync), bindRun,
			say(Query("SELECT 1")), bindRun,
		}, local: 2},
		{name: "Parse alone of ours over a local request", steps: []step{
			local, say(Parse("", "SELECT next_snowflake() AS x"), Sync),
			say(Bind("", ""), DescribePortal(""), Execute(""), Sync),
		}, local: 2},
	})
}
