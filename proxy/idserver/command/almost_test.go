package command_test

import (
	"strings"
	"testing"

	pg_query "github.com/wasilibs/go-pgquery"
	"pgregory.net/rapid"

	"pgflurry/proxy/idserver/command"
	"pgflurry/proxy/statement"
)

// tokensOf returns the tokens of a text as they are written.
func tokensOf(sql string) (tokens []string) {
	scan := statement.Scan([]byte(sql))
	for kind := scan.Next(); kind != statement.KindEnd && kind != statement.KindBad; kind = scan.Next() {
		tokens = append(tokens, string(scan.Source()))
	}
	return tokens
}

// The texts most likely to be mistaken for a command are commands with a token dropped, doubled, swapped or replaced.
func TestReadIsNotFooledByAlmostCommands(t *testing.T) {
	var commands [][]string
	words := []string{
		"", "+", "-", "::", ";", ",", ".", "(", ")", "=", "*", "1.5", "'x'", "E'x'", "U&'x'", "$1",
		`"q"`,
	}
	for _, conversation := range texts {
		for _, sql := range conversation {
			tokens := tokensOf(sql)
			if len(tokens) > 0 {
				commands = append(commands, tokens)
				words = append(words, tokens...)
			}
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		tokens := append([]string{}, rapid.SampledFrom(commands).Draw(r, "command")...)
		for range rapid.IntRange(1, 3).Draw(r, "changes") {
			i, word := rapid.IntRange(0, len(tokens)-1).Draw(r, "at"), rapid.SampledFrom(words).Draw(r, "word")
			switch rapid.IntRange(0, 3).Draw(r, "change") {
			case 0:
				tokens[i] = ""
			case 1:
				tokens[i] = word
			case 2:
				tokens[i] += " " + word
			case 3:
				j := rapid.IntRange(0, len(tokens)-1).Draw(r, "with")
				tokens[i], tokens[j] = tokens[j], tokens[i]
			}
		}
		checkRead(r, strings.Join(tokens, " "))
	})
}

// These are all keywords of PostgreSQL's grammar, wherever a name, a value or a label may be.
func TestReadTakesNoKeywordForANameThatPostgreSQLRefuses(t *testing.T) {
	scan, err := pg_query.Scan("select")
	if err != nil {
		t.Fatal(err)
	}
	names := scan.Tokens[0].Token.Descriptor().Values()
	taken := 0
	for i := range names.Len() {
		word := strings.ToLower(strings.TrimSuffix(string(names.Get(i).Name()), "_P"))
		if scan, err = pg_query.Scan(word); err != nil || len(scan.Tokens) != 1 || scan.Tokens[0].KeywordKind == 0 {
			continue
		}
		for _, shape := range []string{
			"%", "SELECT %", "SELECT %()", "SELECT 1 %", "SELECT 1 AS %", "SELECT version() %",
			"SELECT 1+% 1 %", "VALUES (%)", "SELECT * FROM %()",
			"SET % = 1", "SET %.x TO 1", "SET x.% TO 1", "SET x = %", "SET x = 1, %", "SET SESSION % = 1",
			"SET LOCAL % TO 1",
			"SET TIME ZONE %", "SET ROLE %", "SET SESSION AUTHORIZATION %", "SET NAMES %", "SET %", "RESET %",
			"SHOW %",
			"SHOW x.%", "SAVEPOINT %", "RELEASE %", "RELEASE SAVEPOINT %", "ROLLBACK TO %", "ROLLBACK %", "COMMIT %",
			"BEGIN %",
			"START TRANSACTION %", "DEALLOCATE %", "DEALLOCATE PREPARE %", "DECLARE % CURSOR FOR SELECT 1",
			"DECLARE c % CURSOR FOR SELECT 1",
			"DECLARE c CURSOR % HOLD FOR SELECT 1", "FETCH %", "FETCH % c", "FETCH % FROM c", "FETCH 1 %",
			"FETCH FORWARD %",
			"FETCH FORWARD % IN c", "CLOSE %", "UNLISTEN %", "DISCARD %",
		} {
			sql := strings.ReplaceAll(shape, "%", word)
			checkRead(t, sql)
			if commands, err := command.Read([]byte(sql)); err == nil && len(commands) == 1 {
				taken++
			}
		}
	}
	if taken < 4500 {
		t.Errorf("%d texts were read; expected thousands", taken)
	}
}
