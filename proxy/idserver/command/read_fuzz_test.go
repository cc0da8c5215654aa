package command_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	pg_query "github.com/wasilibs/go-pgquery"

	"pgflurry/internal/fault"
	"pgflurry/proxy/idserver/command"
)

// refused has texts just outside the grammar, with the codes of their errors.
var refused = []struct{ sql, code string }{
	{"SELECT * FROM t", "0A000"},
	{"SELECT 1; SELECT * FROM t", "0A000"},
	{"INSERT INTO t VALUES (1)", "0A000"},
	{"(SELECT 1)", "0A000"},
	{"VALUES (1), (2)", "0A000"},
	{"VALUES (version())", "0A000"},
	{"VALUES 1", "42601"},
	{"CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END", "0A000"},
	{"SELECT 1, next_snowflake()", "0A000"},
	{"SELECT next_snowflake() FROM generate_series(1, 10001)", "0A000"},
	{"SELECT 1 - 1", "0A000"},
	{"SELECT 1 + '1'", "0A000"},
	{"SELECT 2147483647 + 1", "0A000"},
	{"SELECT 9223372036854775807 + 1", "0A000"},
	{"SELECT $1", "0A000"},
	{"SELECT 1::int4", "0A000"},
	{"SELECT version()::text", "0A000"},
	{"SELECT 1.5", "0A000"},
	{"SELECT 9223372036854775808", "0A000"},
	{"SELECT 'a' 'b'", "0A000"},
	{"SELECT current_user()", "0A000"},
	{"SELECT \"user\"", "0A000"},
	{"SELECT pg_catalog.user", "0A000"},
	{"SELECT version", "0A000"},
	{"SELECT public.version()", "0A000"},
	{"SELECT version() OVER ()", "0A000"},
	{"SELECT 1 AS a b", "0A000"},
	{"SELECT 1 year", "0A000"},
	{"SELECT * FROM 1", "0A000"},
	{"SELECT * FROM version() v", "0A000"},
	{"SELECT * FROM version(), version()", "0A000"},
	{"SELECT current_timestamp(3)", "0A000"},
	{"SELECT U&'x'", "0A000"},
	{"SELECT N'x'", "0A000"},
	{"SELECT B'1'", "0A000"},
	{"SELECT E'\\xff'", "0A000"},
	{"SELECT current_setting($1001)", "0A000"},
	{"SELECT version(1)", "0A000"},
	{"SELECT CAST(1 AS text)", "0A000"},
	{"SELECT (1)", "0A000"},
	{"SELECT current_setting(version())", "0A000"},
	{"SELECT current_setting()", "0A000"},
	{"SELECT", "0A000"},
	{"SELECT 1,", "0A000"},
	{"SELECT current_setting($0)", "42P02"},
	{"SELECT 1 AS " + strings.Repeat("x", 64), "42622"},
	{"SELECT " + strings.Repeat("1,", 128) + "1", "54011"},
	{"SELECT 'x", "42601"},
	{"SELECT 1 /* x", "42601"},
	{"SELECT 1a", "42601"},
	{"SELECT 1; \v", "42601"},
	{"SELECT $x", "42601"},
	{"\xff", "22021"},
	{"SELECT '\x00'", "22021"},
	{"1", "42601"},
	{"flurry", "42601"},
	{"'x'", "42601"},
	{"GET / HTTP/1.1", "42601"},

	{"COMMIT AND CHAIN", "0A000"},
	{"ROLLBACK AND NO CHAIN", "0A000"},
	{"COMMIT PREPARED 'x'", "0A000"},
	{"PREPARE TRANSACTION 'x'", "0A000"},
	{"BEGIN x", "42601"},
	{"BEGIN READ", "42601"},
	{"BEGIN READ ONLY,", "42601"},
	{"START", "42601"},
	{"ROLLBACK TO", "42601"},
	{"SAVEPOINT select", "42601"},
	{"SAVEPOINT a b", "42601"},

	{"SET", "42601"},
	{"SET x", "42601"},
	{"SET x = ", "42601"},
	{"SET x = 1,", "42601"},
	{"SET x = user", "42601"},
	{"SET x = $1", "42601"},
	{"SET a.b.c.d.e.f.g.h.i = 1", "0A000"},
	{"SET x FROM CURRENT", "0A000"},
	{"SET TRANSACTION", "42601"},
	{"SET TRANSACTION SNAPSHOT 'x'", "0A000"},
	{"SET LOCAL TRANSACTION READ ONLY", "0A000"},
	{"SET TIME ZONE INTERVAL '1' HOUR", "0A000"},
	{"SET TIME ZONE INTERVAL '+00:00'", "0A000"},
	{"SET TIME ZONE INTERVAL 'rubbish' HOUR TO MINUTE", "0A000"},
	{"SET TIME ZONE INTERVAL(1) '1'", "0A000"},
	{"SET TIME ZONE month", "0A000"},
	{"SET CONSTRAINTS ALL DEFERRED", "0A000"},
	{"SET NAMES utf8", "42601"},
	{"RESET", "42601"},
	{"SHOW", "42601"},
	{"SHOW x y", "42601"},
	{"DISCARD x", "42601"},
	{"LISTEN x", "0A000"},

	{"PREPARE p AS INSERT INTO t VALUES (1)", "0A000"},
	{"EXECUTE p", "0A000"},
	{"MOVE c", "0A000"},
	{"DECLARE c BINARY CURSOR FOR SELECT 1", "0A000"},
	{"DECLARE c SCROLL CURSOR FOR SELECT 1", "0A000"},
	{"DECLARE c CURSOR FOR SELECT * FROM t", "0A000"},
	{"DECLARE c CURSOR SELECT 1", "42601"},
	{"FETCH PRIOR FROM c", "55000"},
	{"FETCH BACKWARD 5 IN c", "55000"},
	{"FETCH -1 FROM c", "55000"},
	{"FETCH 0 FROM c", "55000"},
	{"FETCH ABSOLUTE 1 FROM c", "55000"},
	{"FETCH", "42601"},
	{"CLOSE", "42601"},
}

func TestWhatIsNotAnsweredIsRefusedWithACode(t *testing.T) {
	for _, c := range refused {
		commands, err := command.Read([]byte(c.sql))
		if codeOf(err) != c.code || commands != nil {
			t.Errorf("Read(%.60q) = %v, %v with code %q; want code %s", c.sql, commands, err, codeOf(err), c.code)
		}
	}
}

// nextTo is a string that continues behind a comment. PostgreSQL reads one string, the parser of the tests two.
var nextTo = regexp.MustCompile(`'[\s]*--[^\n\r]*[\n\r][^']*'`)

// failing is a test, of package testing or of rapid.
type failing interface {
	Helper()
	Fatalf(format string, values ...any)
}

// checkRead asserts that PostgreSQL's parser finds as many statements as Read, and that an error is fit for a client.
func checkRead(t failing, sql string) {
	t.Helper()
	commands, err := command.Read([]byte(sql))
	if err != nil {
		checkError(t, sql, err)
		return
	}
	if nextTo.MatchString(sql) {
		return
	}
	tree, err := pg_query.Parse(sql)
	if err != nil {
		t.Fatalf("Read(%q) = %+v, but PostgreSQL's parser: %v", sql, commands, err)
	}
	if len(tree.Stmts) != len(commands) {
		t.Fatalf("Read(%q) = %+v, but PostgreSQL's parser has %d statements", sql, commands, len(tree.Stmts))
	}
}

// checkError asserts that an error is one line of ASCII, with at most 120 characters of the client's text.
func checkError(t failing, sql string, err error) {
	t.Helper()
	var e fault.Error
	if !errors.As(err, &e) || len(e.SQLState) != 5 || e.Message == "" || len(e.Message) > 120+100 {
		t.Fatalf("Read(%q): %q is no error for a client", sql, err)
	}
	for _, r := range e.Message + e.Hint {
		if r < ' ' || r > '~' {
			t.Fatalf("Read(%q): %q is not plain ASCII", sql, err)
		}
	}
}

// FuzzRead looks for a text that panics, or that PostgreSQL reads differently.
func FuzzRead(f *testing.F) {
	if _, err := pg_query.Parse("SELECT 1"); err != nil { // it is compiled now, which takes longer than a text may
		f.Fatal(err)
	}
	for _, conversation := range texts {
		for _, sql := range conversation {
			f.Add(sql)
		}
	}
	for _, sql := range lookups(f) {
		f.Add(sql)
	}
	for _, c := range refused {
		f.Add(c.sql)
	}
	f.Fuzz(func(t *testing.T, sql string) { checkRead(t, sql) })
}
