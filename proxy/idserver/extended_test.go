package idserver

import (
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

func parse(name, sql string, types ...uint32) pgproto3.FrontendMessage {
	return &pgproto3.Parse{Name: name, Query: sql, ParameterOIDs: types}
}

func bind(portal, statement string, params ...string) pgproto3.FrontendMessage {
	m := &pgproto3.Bind{DestinationPortal: portal, PreparedStatement: statement}
	for _, p := range params {
		m.Parameters = append(m.Parameters, []byte(p))
	}
	return m
}

func describe(what byte, name string) pgproto3.FrontendMessage {
	return &pgproto3.Describe{ObjectType: what, Name: name}
}

func execute(portal string, most uint32) pgproto3.FrontendMessage {
	return &pgproto3.Execute{Portal: portal, MaxRows: most}
}

func closes(what byte, name string) pgproto3.FrontendMessage {
	return &pgproto3.Close{ObjectType: what, Name: name}
}

var syncs, flushes = &pgproto3.Sync{}, &pgproto3.Flush{}

type said []pgproto3.FrontendMessage

func TestABatchIsCarriedOut(t *testing.T) {
	for name, c := range map[string]struct {
		said  said
		heard string
	}{
		"described and executed": {
			said{
				parse("", "SELECT next_snowflake()"), describe('S', ""), bind("", ""), describe('P', ""),
				execute("", 0), syncs,
			},
			"1 types[] <next_snowflake> 2 <next_snowflake> (1) [SELECT 1] ZI",
		},
		"pipelined": {
			said{
				parse("a", "SELECT next_snowflake()"), bind("", "a"), execute("", 0), bind("", "a"), execute("", 0),
				syncs, bind("", "a"), execute("", 0), syncs,
			},
			"1 2 (1) [SELECT 1] 2 (2) [SELECT 1] ZI 2 (3) [SELECT 1] ZI",
		},
		"in portions": {
			said{
				parse("", "SELECT * FROM next_snowflakes($1)"), describe('S', ""), bind("p", "", "3"), execute("p", 2),
				execute("p", 1), execute("p", 1), execute("p", 1), syncs, execute("p", 1), syncs,
			},
			"1 types[20] <next_snowflakes> 2 (1) (2) s (3) s [SELECT 0] [SELECT 0] ZI ERROR:34000 ZI",
		},
		"portals end with their transaction": {
			said{
				parse("", "BEGIN"), bind("", ""), execute("", 0), parse("", "SELECT * FROM next_snowflakes(2)"),
				bind("p", ""), execute("p", 1), syncs, execute("p", 1), syncs,
				parse("", "COMMIT"), bind("", ""), execute("", 0), execute("p", 1), syncs,
			},
			"1 2 [BEGIN] 1 2 (1) s ZT (2) s ZT 1 2 [COMMIT] ERROR:34000 ZI",
		},
		"a statement is described as its Parse saw it": {
			said{
				parse("early", "FETCH ALL FROM c"), &pgproto3.Query{String: "BEGIN"},
				&pgproto3.Query{String: "DECLARE c CURSOR FOR SELECT next_snowflake()"},
				parse("late", "FETCH ALL FROM c"), describe('S', "early"), describe('S', "late"),
				bind("", "early"), describe('P', ""), syncs,
				&pgproto3.Query{String: "CLOSE c"}, describe('S', "late"), syncs,
			},
			"1 [BEGIN] ZT [DECLARE CURSOR] ZT 1 types[] n types[] <next_snowflake> 2 <next_snowflake> ZT " +
				"[CLOSE CURSOR] ZT types[] <next_snowflake> ZT",
		},
		"what is suspended has begun a pipeline": {
			said{
				parse("", "SELECT next_snowflake()"), bind("", ""), execute("", 1),
				&pgproto3.Query{String: "DISCARD ALL"}, syncs,
			},
			"1 2 (1) s ERROR:25001 ZI ZI",
		},
		"a FETCH needs a portal with rows": {
			said{
				parse("", "FETCH c"), bind("x", ""), &pgproto3.Query{String: "FETCH x"}, syncs,
			},
			"1 2 ERROR:XX000 ZI ZI",
		},
		"what has failed is not run again": {
			said{
				parse("s", "SELECT * FROM next_snowflakes($1)"), parse("t", "SELECT current_setting($1)"),
				&pgproto3.Query{String: "BEGIN"}, bind("p", "s", "0"), bind("q", "t", "x"),
				&pgproto3.Query{String: "SAVEPOINT a"}, execute("p", 0), syncs,
				&pgproto3.Query{String: "ROLLBACK TO a"}, execute("p", 0), syncs,
				&pgproto3.Query{String: "ROLLBACK TO a; FETCH p"},
				&pgproto3.Query{String: "ROLLBACK TO a"}, execute("q", 0), syncs,
				&pgproto3.Query{String: "ROLLBACK TO a"}, execute("q", 0), syncs,
			},
			"1 1 [BEGIN] ZT 2 2 [SAVEPOINT] ZT ERROR:22023 ZE [ROLLBACK] ZT ERROR:55000 ZE [ROLLBACK] " +
				"ERROR:55000 ZE [ROLLBACK] ZT ERROR:42704 ZE [ROLLBACK] ZT ERROR:55000 ZE",
		},
		"an error skips to the Sync": {
			said{
				parse("", "SELECT nonsense"), bind("", ""), execute("", 0), flushes,
				&pgproto3.Query{String: "SELECT 1"}, syncs, parse("", "SELECT 1"), syncs,
			},
			"ERROR:0A000 ZI 1 ZI",
		},
		"a failed block": {
			said{
				parse("", "BEGIN"), bind("", ""), execute("", 0), bind("", "nobody"), syncs,
				parse("", "SELECT 1"), syncs, parse("", "ROLLBACK"), bind("", ""), execute("", 0), syncs,
			},
			"1 2 [BEGIN] ERROR:26000 ZE ERROR:25P02 ZE 1 2 [ROLLBACK] ZI",
		},
		"an empty statement": {
			said{parse("", ""), describe('S', ""), bind("", ""), describe('P', ""), execute("", 0), syncs},
			"1 types[] n 2 n empty ZI",
		},
		"a name that is taken": {
			said{
				parse("a", "SELECT 1"), parse("a", "SELECT 1"), syncs, closes('S', "a"), parse("a", "SELECT 1"), syncs,
			},
			"1 ERROR:42P05 ZI 3 1 ZI",
		},
		"a text with parameters that was parsed before, as a Query": {
			said{
				parse("", "SELECT next_segment($1)"), syncs, &pgproto3.Query{String: "SELECT next_segment($1)"}, syncs,
			},
			"1 ZI ERROR:42P02 ZI ZI",
		},
		"a cursor that became another one behind the Bind of its FETCH": {
			said{
				parse("", "BEGIN"), bind("", ""), execute("", 0),
				parse("", "DECLARE c CURSOR FOR SELECT 1, 2"), bind("", ""), execute("", 0),
				parse("", "FETCH c"),
				&pgproto3.Bind{DestinationPortal: "p", ResultFormatCodes: []int16{0, 1}},
				closes('P', "c"), parse("", "DECLARE c CURSOR FOR SELECT 1, 2, 3"), bind("", ""), execute("", 0),
				execute("p", 0), syncs,
			},
			"1 2 [BEGIN] 1 2 [DECLARE CURSOR] 1 2 3 1 2 [DECLARE CURSOR] ERROR:0A000 ZE",
		},
		"an unnamed portal of a savepoint that was released": {
			said{
				&pgproto3.Query{String: "BEGIN; SAVEPOINT a"},
				parse("", "SELECT * FROM next_snowflakes(3)"), bind("", ""), execute("", 1),
				parse("r", "RELEASE a"), bind("r", "r"), execute("r", 0),
				parse("s", "SAVEPOINT b"), bind("s", "s"), execute("s", 0),
				parse("t", "ROLLBACK TO b"), bind("t", "t"), execute("t", 0),
				execute("", 1), syncs,
			},
			"[BEGIN] [SAVEPOINT] ZT 1 2 (1) s 1 2 [RELEASE] 1 2 [SAVEPOINT] 1 2 [ROLLBACK] (2) s ZT",
		},
		"a function call": {
			said{&pgproto3.FunctionCall{Function: 1}},
			"ERROR:0A000 ZI",
		},
		"what is left of a copy": {
			said{&pgproto3.CopyData{Data: []byte("x")}, &pgproto3.CopyDone{}, &pgproto3.CopyFail{}, syncs},
			"ZI",
		},
		"a statement twice": {
			said{parse("", "SET a.b = 1"), bind("p", ""), execute("p", 0), execute("p", 0), syncs},
			"1 2 [SET] ERROR:55000 ZI",
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTalk(t, testServer(t, &counter{}))
			x.send(append(c.said, &pgproto3.Terminate{})...)
			x.says(x.hear("never"), c.heard+" end")
			if err := <-x.ended; err != errGoodbye {
				t.Errorf("run ended with %v; expected a goodbye", err)
			}
		})
	}
}
