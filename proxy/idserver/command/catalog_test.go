package command

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgflurry/internal/fault"
)

func TestWhatDriversAskOfTheCatalogsHasColumnsAndNoRows(t *testing.T) {
	for _, c := range lookups {
		for _, sql := range []string{
			c.text, "/* driver */ " + strings.Join(strings.Fields(c.text), "\n  ") + ";",
			"DECLARE question CURSOR FOR " + c.text,
		} {
			if strings.HasPrefix(sql, "DECLARE") && strings.Contains(c.text, "$1") {
				continue
			}
			if lookup, is := queryOf(t, sql).(*Catalog); !is || len(lookup.Columns(nil)) == 0 {
				t.Errorf("%s has no columns", sql)
			}
		}
		for _, sql := range []string{
			c.text + " LIMIT 1", c.text + " UNION SELECT 1", "WITH x AS (SELECT 1) INSERT INTO t " + c.text,
		} {
			_, err := Read([]byte(sql))
			if said := (fault.Error{}); !errors.As(err, &said) || said.SQLState != codeNotSupported {
				t.Errorf("%s gives %v; expected SQLSTATE %s", sql, err, codeNotSupported)
			}
		}
	}
}

func TestOnlyATextThatAsksForTypesByNameOrForAllHasRows(t *testing.T) {
	all := queryOf(t, "select oid,typname from pg_type").(*Catalog)
	if rows := all.Rows(nil); !slices.ContainsFunc(rows, func(row []string) bool {
		return slices.Equal(row, []string{"20", "int8"})
	}) {
		t.Errorf("pg_type has the rows %v; expected int8 with its OID 20", rows)
	}
	named := queryOf(t, "SELECT oid, typarray, typname FROM pg_type WHERE typname = ANY($1::text[])").(*Catalog)
	types, err := named.Types(nil)
	if err != nil || !slices.Equal(types, []uint32{textArray}) {
		t.Fatalf("its parameters are %v, %v; expected text[]", types, err)
	}
	asked, err := Decode(textArray, 0, []byte(`{int8,"timestamptz",klingon}`))
	if err != nil {
		t.Fatal(err)
	}
	rows := named.Rows([]Value{asked})
	if !reflect.DeepEqual(rows, [][]string{{"20", "1016", "int8"}, {"1184", "1185", "timestamptz"}}) {
		t.Errorf("by name pg_type has the rows %v; expected those of int8 and timestamptz", rows)
	}
	for _, sql := range []string{
		"select oid, typbasetype from pg_type where typname = 'lo'", "SELECT RELNAME FROM PG_CLASS WHERE OID=0",
	} {
		if rows := queryOf(t, sql).(*Catalog).Rows(nil); rows != nil {
			t.Errorf("%s has the rows %v; expected none", sql, rows)
		}
	}
}

func queryOf(t *testing.T, sql string) Query {
	t.Helper()
	commands, err := Read([]byte(sql))
	if err != nil || len(commands) != 1 {
		t.Fatalf("%s gives %v, %v", sql, commands, err)
	}
	if cursor, is := commands[0].(Declare); is {
		return cursor.Query
	}
	query, is := commands[0].(Query)
	if !is {
		t.Fatalf("%s is a %T", sql, commands[0])
	}
	return query
}
