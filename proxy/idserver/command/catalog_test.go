package command

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgflurry/internal/fault"
)

func TestWhatDriversAskOfTheCatalogsHasColumnsAndNoRows(t *testing.T) {
	paths, err := filepath.Glob("lookups/*.sql")
	if err != nil || len(paths) != 4 {
		t.Fatalf("%d files in lookups, %v; expected 4", len(paths), err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range []string{
			string(text), strings.ToUpper(string(text[:7])) + string(text[7:]) + ";",
			"/* driver */ " + strings.Join(strings.Fields(string(text)), "\n  "),
			"PREPARE question AS " + string(text), "DECLARE question CURSOR FOR " + string(text),
		} {
			query := queryOf(t, sql)
			types, err := query.Types(nil)
			if err != nil || len(types) != 0 || len(query.Columns(nil)) == 0 || query.Rows() != 0 {
				t.Errorf("%s has the parameters %v, %v, the columns %v and %d rows; expected columns alone",
					sql, types, err, query.Columns(nil), query.Rows())
			}
		}
		for _, sql := range []string{
			strings.Replace(string(text), "SELECT ", "SELECT DISTINCT ", 1) + " LIMIT 1", string(text) + " LIMIT 1",
		} {
			_, err := Read([]byte(sql))
			if said := (fault.Error{}); !errors.As(err, &said) || said.SQLState != codeNotSupported {
				t.Errorf("%s gives %v; expected SQLSTATE %s", sql, err, codeNotSupported)
			}
		}
	}
	if query := queryOf(t, "SELECT 1"); query.Rows() != 1 {
		t.Errorf("SELECT 1 has %d rows", query.Rows())
	}
}

func queryOf(t *testing.T, sql string) *Select {
	t.Helper()
	commands, err := Read([]byte(sql))
	if err != nil || len(commands) != 1 {
		t.Fatalf("%s gives %v, %v", sql, commands, err)
	}
	var query Query
	switch c := commands[0].(type) {
	case Query:
		query = c
	case Prepare:
		query = c.Query
	case Declare:
		query = c.Query
	}
	found, is := query.(*Select)
	if !is {
		t.Fatalf("%s is a %T", sql, commands[0])
	}
	return found
}
