package wire

import (
	"strings"
	"testing"
)

func TestWhatComesUnaskedComesAsFromPostgreSQL(t *testing.T) {
	t.Parallel()
	notice := "DO $$ BEGIN RAISE NOTICE 'look'; END $$"
	checkAll(t, []conversation{
		{name: "notices", steps: []step{
			say(Query(notice)), say(Query(ours)), together(request(ours), request(notice), Sync),
			together(request(notice), request(ours), Sync), say(Query(ours)),
		}, local: 2},
		{name: "notifications", steps: []step{
			say(Query("LISTEN wire")), say(Query("NOTIFY wire, 'one'")), say(Query(ours)),
			together(request("NOTIFY wire, 'two'"), Sync), together(request(ours), request("NOTIFY wire"), Sync),
			say(Query("BEGIN; NOTIFY wire, 'three'")), say(Query(ours)), say(Query("COMMIT")), say(Query(ours)),
		}, local: 3},
		{name: "parameter status", steps: []step{
			say(Query("SET application_name = 'other'")), say(Query(ours)),
			together(request("SET TimeZone = 'Asia/Tokyo'"), Sync), together(request(ours), Sync),
			say(Query("BEGIN; SET DateStyle = 'German'")), say(Query(ours)), say(Query("ROLLBACK")), say(Query(ours)),
			say(Query("SET client_encoding = 'SJIS'")), say(Query(ours)),
			say(Query("SELECT next_snowflake() AS \"\x83\x5c\"")),
		}, local: 5},
		{name: "warnings of the transaction commands", steps: []step{
			say(Query("COMMIT")), say(Query("BEGIN; BEGIN")), say(Query(ours)), say(Query("COMMIT")),
		}, local: 1},
		{name: "an identifier that is cut", steps: []step{
			say(Query("SELECT next_snowflake() AS " + strings.Repeat("x", 64))),
			say(Query("SELECT next_snowflake() AS " + strings.Repeat("x", 63))),
		}, local: 1},
	})
}

func TestStartupParametersAreThoseOfPostgreSQL(t *testing.T) {
	t.Parallel()
	checkAll(t, []conversation{
		{
			name: "of the session", with: []string{"options", "-c client_min_messages=debug1", "DateStyle", "German"},
			steps: []step{say(Query(ours)), say(Query("SHOW datestyle"))}, local: 1,
		},
		{name: "an encoding of the client's own", with: []string{"client_encoding", "LATIN1"}, steps: []step{
			say(Query(ours)), together(request(ours), Sync),
		}, local: 2},
		{name: "replication", with: []string{"replication", "database"}, steps: []step{
			say(Query(ours)), say(Query("SHOW application_name")), say(Query(ours)),
		}},
	})
}

func TestPipelinesAreAnsweredAsByPostgreSQL(t *testing.T) {
	t.Parallel()
	checkAll(t, []conversation{
		{name: "Queries", steps: []step{say(Query(ours), Query(ours), Query(ours))}, local: 3},
		{name: "Queries of both", steps: []step{
			say(Query(ours), Query("SELECT 1"), Query(ours)), say(Query(ours)),
		}, local: 2},
		{name: "batches", steps: []step{
			together(request(ours), Sync, request(ours), Sync, request(ours), Sync),
		}, local: 3},
		{name: "batches of both", steps: []step{
			together(request(ours), Sync, request("SELECT 1"), Sync, request(ours), Sync),
			together(request(ours), Sync),
		}, local: 2},
		{name: "flushed, then ours", steps: []step{
			together(request("SELECT 1"), Flush), together(request(ours), Flush), say(Sync), say(Query(ours)),
		}, local: 1},
		{name: "Query while a batch of ours is open", steps: []step{
			together(request(ours), Query("SELECT 1"), Sync), together(request(ours), Query(ours), Sync),
			together(request(ours)), say(Query("SELECT 1")), say(Sync),
			together(request(ours), Query("BEGIN"), Sync),
			together(request(ours), Query("ROLLBACK"), request(ours), Sync),
		}},
		{name: "Query while a batch of theirs is open", steps: []step{
			together(request("SELECT 1"), Query(ours), Sync), together(request("SELECT 1")), say(Query(ours)),
			say(Sync), say(Query(ours)),
		}},
		{name: "transactions", steps: []step{
			together(Query("BEGIN"), request(ours), Sync, Query("COMMIT"), Query(ours)), say(Query("BEGIN")),
			together(request(ours), Sync, Query(ours)), say(Query("COMMIT")),
		}, local: 2},
		{name: "batches as drivers send them", steps: []step{
			say(Parse("a", ours), DescribeStatement("a"), Parse("b", "SELECT 1"), DescribeStatement("b"), Sync),
			say(Bind("", "a"), DescribePortal(""), Execute(""), Bind("", "b"), DescribePortal(""), Execute(""),
				Bind("", "a"), DescribePortal(""), Execute(""), Sync),
			say(Bind("", "a"), Execute(""), Sync, Bind("", "a"), Execute(""), Sync, Bind("", "b"), Execute(""), Sync),
		}, local: 2},
		{name: "many rows", steps: []step{
			say(Query("SELECT next_snowflake() FROM generate_series(1, 3000)")),
			say(Query("SELECT repeat('x', 30000)")), say(Query(ours)),
			together(request("SELECT next_snowflake(), next_snowflake() FROM generate_series(1, 1000)", 1), Sync),
		}, local: 3000 + 1 + 2000},
		{name: "a long message among ours", steps: []step{
			together(Query(ours), Query("SELECT length('"+strings.Repeat("x", 20000)+"')")), say(Query(ours)),
			together(request(ours), Parse("", "SELECT length('"+strings.Repeat("x", 9000)+"')"), Bind("", ""),
				Execute(""), Sync),
			together(request(ours), Sync),
			say(Query(ours)),
		}, local: 4},
		{name: "a long name", steps: []step{
			say(Parse(strings.Repeat("n", 9000), ours), DescribeStatement(strings.Repeat("n", 9000)), Sync),
			say(Bind("", strings.Repeat("n", 9000)), Execute(""), Sync),
			say(CloseStatement(strings.Repeat("n", 9000)), Sync), say(Query(ours)),
		}, local: 1},
	})
}
