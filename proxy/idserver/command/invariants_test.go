package command_test

import (
	"reflect"
	"strings"
	"sync"
	"testing"

	"pgflurry/proxy/idserver/command"
	"pgflurry/proxy/statement"
)

// The test of the third invariant is in server_test.go.

func TestInvariant1WhatIsReadHasAsManyStatementsAsPostgreSQLFinds(t *testing.T) {
	for _, conversation := range texts {
		for _, sql := range conversation {
			checkRead(t, sql)
		}
		checkRead(t, strings.Join(conversation, ";"))
		checkRead(t, "/* ; */ ; "+strings.Join(conversation, " -- ;\n; ")+" ;; ")
	}
}

func TestInvariant5AnErrorIsASCIIAndShort(t *testing.T) {
	long := strings.Repeat("\u00e9\n", 4000)
	for _, sql := range []string{
		long, "SELECT '" + long + "' b c", "SELECT * FROM \"" + long, "COMMIT \"" + long + `"`, "'" + long + "'",
		"SET " + long,
		"SELECT current_setting('" + long + "', '" + long + "')::text",
		"SELECT 1 AS " + strings.Repeat("x", 8000), "BEGIN /*" + long,
		"SELECT * FROM t WHERE " + strings.Repeat("x", 8000), "select \x01\x7f\u2028",
	} {
		_, err := command.Read([]byte(sql))
		if err == nil {
			t.Fatalf("Read(%.40q) is no error", sql)
		}
		checkError(t, sql, err)
	}
	for _, c := range refused {
		_, err := command.Read([]byte(c.sql))
		checkError(t, c.sql, err)
	}
}

func TestInvariant2AStatementDrawsWhereTheMatcherSaysSo(t *testing.T) {
	for _, sql := range []string{
		"SELECT next_snowflake()", "select public.next_snowflake()::text AS id, next_snowflake()",
		"SELECT next_snowflake() FROM generate_series(1, $1)", "SELECT * FROM next_snowflakes(10000)",
		"SELECT next_segment('a')", "SELECT * FROM pgflurry.next_segments($1, $2)",
		"SELECT next_snowflake() AS version", "SELECT next_snowflake(), 1", "SELECT (next_snowflake())",
		"SELECT * FROM next_snowflakes(10001)", "SELECT next_snowflake() + 0", "SELECT other.next_snowflake()",
		"SELECT 1 AS next_snowflake", "SELECT 'next_snowflake()'", "SELECT version()", "BEGIN",
		"SELECT next_snowflake(1)",
	} {
		form, draws := statement.Match([]byte(sql))
		for before, after := range map[string]string{
			"": "", "SELECT 1; ": "; COMMIT", "/* \u00e9 */": "-- \u00e9",
			"DECLARE c CURSOR FOR ": ";",
		} {
			commands, err := command.Read([]byte(before + sql + after))
			if draws != (drawnIn(commands) != nil) || draws && !reflect.DeepEqual(drawnIn(commands), form) {
				t.Errorf("Read(%q) = %+v, %v; want the form %+v", before+sql+after, commands, err, form)
			}
		}
	}
}

// drawnIn is the form of the only Draw in the commands.
func drawnIn(commands []command.Command) (form *statement.Form) {
	for _, c := range commands {
		switch inner := c.(type) {
		case command.Declare:
			c = inner.Query
		}
		if draw, is := c.(command.Draw); is {
			form = draw.Form
		}
	}
	return form
}

// A reader that read parts of these again for each token would not finish.
func TestInvariant4TheWorkIsLinear(t *testing.T) {
	for _, part := range []string{
		";", "SELECT 1;", "'a'\n", "'a'--x\n", "$a", "$$;", "/*", "/**/;", `"a""`, "+-", "(", "SELECT (", "1,", "a.",
		"::int4", "(select a from ", "count(",
		"version(", "CAST(", "SELECT next_snowflake() /*", "BEGIN;", "e'\\", "\u00e9",
	} {
		for _, first := range []string{
			"", "SELECT ", "SELECT 1, ", "SELECT $1", "SET a", "SET a = 1, 1", "SELECT version(", "VALUES (1, ",
			"SELECT '", "SHOW a",
			"BEGIN ",
		} {
			text := []byte(first + strings.Repeat(part, 1<<18/len(part)))
			commands, err := command.Read(text)
			if err != nil {
				checkError(t, string(text[:40]), err)
			}
			for _, c := range commands {
				if query, is := c.(command.Query); is {
					_, _ = query.Types(nil)
				}
			}
		}
	}
}

func TestInvariant6ACommandIsSharedAndDoesNotReferToItsText(t *testing.T) {
	for _, conversation := range texts {
		for _, sql := range conversation {
			text := []byte(sql)
			got, err := command.Read(text)
			clear(text)
			want, _ := command.Read([]byte(sql))
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("after the buffer was used again Read(%q) = %+v, %v; want %+v", sql, got, err, want)
			}
		}
	}
	commands, err := command.Read([]byte("SELECT current_setting($1), set_config($2, $3, false)"))
	if err != nil {
		t.Fatal(err)
	}
	query := commands[0].(command.Query)
	var sharing sync.WaitGroup
	for i := range 4 { // for the race detector
		sharing.Go(func() {
			declared := []uint32{command.Text, command.Varchar}[i%2]
			if types, err := query.Types([]uint32{0, declared}); err != nil || types[1] != declared {
				t.Errorf("the types are %v, %v", types, err)
			}
		})
	}
	sharing.Wait()
}
