package command

import (
	_ "embed"
	"slices"
	"strings"

	"pgflurry/proxy/statement"
)

// lookupsFile has what drivers send by themselves to the system catalogs, which are empty here. tests/clients records
// it: each text stands behind a comment with the labels of its columns. No other text that reads a table is answered. A
// grammar for such texts was tried: it took a hidden INSERT, a UNION and an aggregate for lookups without rows.
//
//go:embed lookups.sql
var lookupsFile string

// Catalog is a lookup of a driver. Its answer has columns, all of type text, and no rows. pg_type alone has rows:
// PostgreSQL's usual types, where a driver asks for all of them, or for some by name.
type Catalog struct {
	text   string
	labels []string
}

var lookups = readLookups()

func readLookups() (all []*Catalog) {
	for entry := range strings.SplitSeq(lookupsFile, ";\n") {
		if head, text, found := strings.Cut(entry, "\n"); found {
			all = append(all, &Catalog{text: text, labels: strings.Fields(strings.TrimPrefix(head, "--"))})
		}
	}
	return all
}

// readCatalog returns the lookup that a text is; nil: none.
func readCatalog(text []byte) *Catalog {
	for _, c := range lookups {
		if same(text, []byte(c.text)) {
			return c
		}
	}
	return nil
}

// same reports whether two texts have the same tokens.
func same(a, b []byte) bool {
	for s, t := statement.Scan(a), statement.Scan(b); ; {
		kind := s.Next()
		if kind != t.Next() || s.Text() != t.Text() {
			return false
		}
		if kind == statement.KindEnd {
			return true
		}
	}
}

// Tag is the tag of CommandComplete, without the number of rows.
func (*Catalog) Tag() string { return "SELECT" }

// textArray is the OID of text[], which the only parameter has.
const textArray = 1009

// named says that the lookup asks for types whose names are in its parameter.
func (c *Catalog) named() bool { return strings.Contains(c.text, "$1") }

// Types are the types of the parameters: text[], and what else the client declares.
func (c *Catalog) Types(declared []uint32) ([]uint32, error) {
	types := slices.Clone(declared)
	if c.named() {
		types = append([]uint32{textArray}, declared[min(1, len(declared)):]...)
	}
	return types, Determined(types)
}

// Columns are the labels, and the type text.
func (c *Catalog) Columns([]uint32) []Column {
	columns := make([]Column, len(c.labels))
	for i, label := range c.labels {
		columns[i] = column(label, Text)
	}
	return columns
}

// pgTypes are the rows of pg_type: the OIDs of a type and of its array (pg_type.dat).
var pgTypes = []map[string]string{
	{"typname": "bool", "oid": "16", "typarray": "1000"},
	{"typname": "bytea", "oid": "17", "typarray": "1001"},
	{"typname": "int8", "oid": "20", "typarray": "1016"},
	{"typname": "int2", "oid": "21", "typarray": "1005"},
	{"typname": "int4", "oid": "23", "typarray": "1007"},
	{"typname": "text", "oid": "25", "typarray": "1009"},
	{"typname": "name", "oid": "19", "typarray": "1003"},
	{"typname": "oid", "oid": "26", "typarray": "1028"},
	{"typname": "float8", "oid": "701", "typarray": "1022"},
	{"typname": "date", "oid": "1082", "typarray": "1182"},
	{"typname": "varchar", "oid": "1043", "typarray": "1015"},
	{"typname": "void", "oid": "2278", "typarray": "0"},
	{"typname": "timestamp", "oid": "1114", "typarray": "1115"},
	{"typname": "timestamptz", "oid": "1184", "typarray": "1185"},
	{"typname": "interval", "oid": "1186", "typarray": "1187"},
	{"typname": "numeric", "oid": "1700", "typarray": "1231"},
}

// Rows are the rows: those of pgTypes that the lookup asks for, if it wants nothing else of them.
func (c *Catalog) Rows(params []Value) (rows [][]string) {
	all, asked := !strings.Contains(strings.ToLower(c.text), "where"), c.text
	if c.named() && len(params) > 0 { // {int8,"text"}
		asked = "'" + strings.NewReplacer("{", "", "}", "", `"`, "", ",", "''").Replace(params[0].text) + "'"
	}
	for _, t := range pgTypes {
		if !all && !strings.Contains(asked, "'"+t["typname"]+"'") {
			continue
		}
		row := make([]string, len(c.labels))
		for i, label := range c.labels {
			if row[i] = t[label]; row[i] == "" {
				return nil
			}
		}
		rows = append(rows, row)
	}
	return rows
}
