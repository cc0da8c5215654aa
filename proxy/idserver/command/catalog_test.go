package command

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgflurry/internal/fault"
)

func TestASelectOverTheCatalogsHasItsLabelsAndNoRows(t *testing.T) {
	for sql, labels := range map[string]string{
		`SELECT a."Oid", b.x AS y, lower(c), d AS "Z z" FROM pg_class a`:                 "Oid y lower Z z",
		"select distinct relname from pg_catalog.pg_class c, other o where c.x = $2":     "relname",
		"SELECT table_name FROM information_schema.tables WHERE a IN (SELECT max(b))":    "table_name",
		"SELECT * FROM (SELECT a, (SELECT max(x) FROM y) AS m FROM pg_proc p) c LIMIT 1": "a m",
		"SELECT nspname, count(*) AS n FROM pg_namespace GROUP BY nspname":               "nspname n",
		"SELECT CASE a WHEN 'x, FROM' THEN 1 END AS k FROM pg_type LEFT JOIN o ON true":  "k",
		"WITH a AS (SELECT 1), b AS (SELECT 2) SELECT oid FROM pg_type JOIN a ON true":   "oid",
		"SELECT array(SELECT max(a) FROM b) FROM pg_type":                                "array",
	} {
		lookup, is := queryOf(t, sql).(*Catalog)
		if !is {
			t.Errorf("%s is no lookup", sql)
			continue
		}
		if got := strings.Join(lookup.labels, " "); got != labels || lookup.Rows(nil) != nil {
			t.Errorf("%s has the labels %q and the rows %v; expected %q and none", sql, got, lookup.Rows(nil), labels)
		}
	}
	typed := queryOf(t, "SELECT a FROM pg_type WHERE b = ANY($3::text[])").(*Catalog)
	if types, err := typed.Types([]uint32{1009, 0}); err != nil || !slices.Equal(types, []uint32{1009, Text, Text}) {
		t.Errorf("the types of the parameters are %v, %v; expected text[] as declared, and text", types, err)
	}
}

func TestALookupWhoseColumnsOrRowsCannotBeToldIsRefused(t *testing.T) {
	for _, sql := range []string{
		"SELECT * FROM pg_class", "SELECT c.* FROM pg_class c", "SELECT a b FROM pg_class", "SELECT 1 FROM pg_class",
		"SELECT a::text FROM pg_class", "SELECT cast(a AS text) FROM pg_class",
		"SELECT a FROM pg_class UNION SELECT 1",
		"SELECT count(*) FROM pg_class", "SELECT coalesce(max(a), 1) AS m FROM pg_class",
		"SELECT (count(*) + 1) AS n FROM pg_class", "SELECT a AS b c FROM pg_class",
		"SELECT a FROM orders", "SELECT a FROM orders, pg_class", "SELECT a FROM orders o LEFT JOIN pg_class ON true",
		"SELECT a FROM public.pg_class", "SELECT a FROM pg_class RIGHT JOIN orders ON true",
		"SELECT a FROM pg_get_keywords()", "SELECT a FROM (SELECT a FROM orders) x", "SELECT a INTO b FROM pg_class",
		"SELECT * FROM (SELECT a FROM pg_class) x, orders", "SELECT a FROM (pg_class)", "SELECT a FROM pg_class)",
		"WITH a AS (DELETE FROM b RETURNING c) SELECT oid FROM pg_type",
		"WITH a AS (SELECT 1)", "WITH",
		"WITH a AS (SELECT 1) SELECT oid FROM a", "SELECT EXISTS (SELECT a FROM pg_class)",
		"SELECT a AS b, FROM pg_class", "SELECT a. FROM pg_class",
		"SELECT " + strings.Repeat("a, ", 128) + "a FROM pg_class",
		"SELECT a AS " + strings.Repeat("x", 64) + " FROM pg_class",
	} {
		_, err := Read([]byte(sql))
		if said := (fault.Error{}); !errors.As(err, &said) || said.SQLState == "" || said.SQLState[:2] == "08" {
			t.Errorf("%s gives %v; expected an error", sql, err)
		}
	}
}

func TestTheNamesOfTheTypesOfThisDatabaseAreInItsCatalog(t *testing.T) {
	lookup := queryOf(t, "select oid,typname from pg_type").(*Catalog)
	if rows := lookup.Rows(nil); !slices.ContainsFunc(rows, func(row []string) bool {
		return slices.Equal(row, []string{"20", "int8"})
	}) {
		t.Errorf("pg_type has the rows %v; expected int8 with its OID 20", rows)
	}
	named := queryOf(t, "SELECT typarray, typname FROM pg_type WHERE typname = ANY($1::text[])").(*Catalog)
	rows := named.Rows([]Value{{oid: Text, text: `{int8,"timestamptz",klingon}`}})
	if !reflect.DeepEqual(rows, [][]string{{"1016", "int8"}, {"1185", "timestamptz"}}) {
		t.Errorf("by name pg_type has the rows %v; expected those of int8 and timestamptz", rows)
	}
	if rows := queryOf(t, "select oid, typname from pg_type where oid = 5").(*Catalog).Rows(nil); rows != nil {
		t.Errorf("with a condition there are the rows %v; expected none", rows)
	}
}

func queryOf(t *testing.T, sql string) Query {
	t.Helper()
	commands, err := Read([]byte(sql))
	if err != nil || len(commands) != 1 {
		t.Fatalf("%s gives %v, %v", sql, commands, err)
	}
	query, is := commands[0].(Query)
	if !is {
		t.Fatalf("%s is a %T", sql, commands[0])
	}
	return query
}
