package command

import (
	"slices"
	"strconv"
	"strings"

	"pgflurry/proxy/statement"
)

// Catalog is a SELECT over the system catalogs, which are empty here. Its answer has columns and no rows. Drivers and
// tools send such lookups on their own, and need none of the rows. All columns are text. A text is answered if
//
//   - the first relation of its FROM is one of pg_catalog or information_schema, or a subquery of this kind,
//   - each column has a label that can be told without a catalog: a name, a call, or AS,
//   - an empty relation there means no rows: no outer join from the other side, no set operation, no aggregate of all.
//
// Expressions are not read, and WITH may stand before SELECT. One table is not empty: pg_type has PostgreSQL's usual
// types for a text that asks for all (PHP) or for some by name (Slonik).
type Catalog struct {
	labels []string
	params int
	types  catalogTypes // whether it has rows
}

// catalogTypes are the rows of pg_type that a lookup has.
type catalogTypes uint8

const (
	noTypes catalogTypes = iota
	allTypes
	typesNamed // in $1
)

// Tag is the tag of CommandComplete, without the number of rows.
func (*Catalog) Tag() string { return "SELECT" }

// Types are the types of the parameters: as declared, else text.
func (c *Catalog) Types(declared []uint32) ([]uint32, error) {
	types := make([]uint32, max(len(declared), c.params))
	copy(types, declared)
	for i, oid := range types {
		if oid == 0 || oid == Unknown {
			types[i] = Text
		}
	}
	return types, nil
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
var pgTypes = []struct{ typname, oid, typarray string }{
	{"bool", "16", "1000"},
	{"bytea", "17", "1001"},
	{"name", "19", "1003"},
	{"int8", "20", "1016"},
	{"int2", "21", "1005"},
	{"int4", "23", "1007"},
	{"text", "25", "1009"},
	{"oid", "26", "1028"},
	{"json", "114", "199"},
	{"float4", "700", "1021"},
	{"float8", "701", "1022"},
	{"varchar", "1043", "1015"},
	{"date", "1082", "1182"},
	{"time", "1083", "1183"},
	{"timestamp", "1114", "1115"},
	{"timestamptz", "1184", "1185"},
	{"interval", "1186", "1187"},
	{"numeric", "1700", "1231"},
	{"void", "2278", "0"},
	{"uuid", "2950", "2951"},
	{"jsonb", "3802", "3807"},
}

// Rows are the rows: none, except those of pgTypes that the lookup asks for.
func (c *Catalog) Rows(params []Value) (rows [][]string) {
	if c.types == noTypes {
		return nil
	}
	var asked []string
	if c.types == typesNamed {
		array, _ := params[0].String()
		asked = strings.Split(strings.NewReplacer("{", "", "}", "", `"`, "").Replace(array), ",")
	}
	for _, t := range pgTypes {
		if c.types == typesNamed && !slices.Contains(asked, t.typname) {
			continue
		}
		columns := map[string]string{"typname": t.typname, "oid": t.oid, "typarray": t.typarray}
		row := make([]string, len(c.labels))
		for i, label := range c.labels {
			row[i] = columns[label]
		}
		rows = append(rows, row)
	}
	return rows
}

// maxLookup is the longest text of a lookup, in bytes. psql's longest has 4,000.
const maxLookup = 16 << 10

// node is a token of a lookup, or a pair of brackets with what is in them.
type node struct {
	kind   statement.Kind // '(' for brackets
	text   string
	inside []node
}

func (n node) is(words ...string) bool {
	return n.kind == statement.KindWord && slices.Contains(words, n.text)
}

func (n node) isName() bool { return n.kind == statement.KindWord || n.kind == statement.KindQuoted }

// readCatalog reads a statement from SELECT on; nil: it is no lookup of this kind.
func readCatalog(text []byte) *Catalog {
	if len(text) > maxLookup {
		return nil
	}
	r, c := readTokens(text), &Catalog{}
	nodes := c.nodes(r)
	if !r.Ended() || !c.query(nodes) {
		return nil
	}
	c.types = typesOf(nodes)
	return c
}

// typesOf are the rows of SELECT names FROM pg_type, with or without WHERE typname = ANY($1::text[]).
func typesOf(nodes []node) catalogTypes {
	from := slices.IndexFunc(nodes, func(n node) bool { return n.is("from") })
	for i, n := range nodes[1:from] {
		if i%2 == 0 && !n.is("oid", "typarray", "typname") || i%2 == 1 && n.kind != ',' {
			return noTypes
		}
	}
	switch rest := nodes[from+1:]; {
	case !rest[0].is("pg_type"):
		return noTypes
	case len(rest) == 1:
		return allTypes
	case len(rest) == 6 && rest[1].is("where") && rest[2].is("typname") && rest[3].kind == '=' && rest[4].is("any") &&
		len(rest[5].inside) > 0 && rest[5].inside[0].kind == statement.KindParam && rest[5].inside[0].text == "1":
		return typesNamed
	}
	return noTypes
}

// nodes reads to the end, or to a closing bracket.
func (c *Catalog) nodes(r *tokens) (all []node) {
	for !r.Ended() && r.Kind() != ')' {
		n := node{kind: r.Kind(), text: r.Text()}
		r.Next()
		switch n.kind {
		case '(':
			if n.inside = c.nodes(r); !r.Mark(')') {
				return append(all, node{kind: statement.KindBad})
			}
		case statement.KindParam:
			if number, err := strconv.Atoi(n.text); err == nil && number <= maxParameter {
				c.params = max(c.params, number)
			}
		}
		all = append(all, n)
	}
	return all
}

// query reads a SELECT, and sets the labels; false: it is no lookup of this kind.
func (c *Catalog) query(nodes []node) bool {
	if len(nodes) > 0 && nodes[0].is("with") {
		for !nodes[0].is("select") {
			if n := nodes[0]; len(nodes) == 1 || n.kind == '(' && !(len(n.inside) > 0 && n.inside[0].is("select")) {
				return false
			}
			nodes = nodes[1:]
		}
	}
	from := slices.IndexFunc(nodes, func(n node) bool { return n.is("from") })
	if from < 2 || !nodes[0].is("select") || from+1 == len(nodes) {
		return false
	}
	list, relation, rest := nodes[1:from], nodes[from+1], nodes[from+2:]
	subquery := relation.kind == '(' && c.query(relation.inside)
	if !subquery && !isCatalog(relation, rest) {
		return false
	}
	grouped, joined, over := false, false, false
	for _, n := range rest {
		if n.is("right", "full", "union", "intersect", "except", "into") || n.kind == statement.KindBad {
			return false
		}
		over = over || n.is("where", "group", "order")
		grouped, joined = grouped || n.is("group"), joined || n.is("join") || n.kind == ',' && !over
	}
	if len(list) == 1 && list[0].kind == '*' {
		return subquery && !joined // with the labels of the subquery
	}
	if list[0].is("all", "distinct") {
		list = list[1:]
	}
	return c.list(list) && (grouped || !aggregates(list))
}

// list sets the labels of the columns of a list.
func (c *Catalog) list(nodes []node) bool {
	c.labels = nil
	for more := true; more; {
		end := slices.IndexFunc(nodes, func(n node) bool { return n.kind == ',' })
		item := nodes
		if more = end >= 0; more {
			item, nodes = nodes[:end], nodes[end+1:]
		}
		label := labelOf(item)
		if label == "" || len(label) > statement.IdentifierBytes || len(c.labels) == maxColumns {
			return false
		}
		c.labels = append(c.labels, label)
	}
	return true
}

// labelOf is the label of a column; empty if it cannot be told.
func labelOf(item []node) string {
	n := len(item)
	if n > 2 && item[n-2].is("as") && item[n-1].isName() {
		return item[n-1].text
	}
	if n > 1 && item[n-1].kind == '(' { // a call
		n--
	}
	for i, part := range item[:n] { // a name, perhaps with dots
		if i%2 == 0 && !part.isName() || i%2 == 1 && part.kind != '.' {
			return ""
		}
	}
	if n%2 == 0 || item[n-1].is("null", "true", "false", "cast", "not", "treat", "trim") {
		return ""
	}
	return item[n-1].text
}

// isCatalog reports whether a name, and what follows it, is a table of pg_catalog or information_schema.
func isCatalog(name node, rest []node) bool {
	known := strings.HasPrefix(name.text, "pg_")
	if len(rest) > 1 && rest[0].kind == '.' {
		known, rest = name.text == "pg_catalog" || name.text == "information_schema", rest[1:]
		name, rest = rest[0], rest[1:]
	}
	call := len(rest) > 0 && rest[0].kind == '(' // gives rows
	return known && name.isName() && !call
}

// aggregates reports whether an aggregate is called outside subqueries.
func aggregates(nodes []node) bool {
	for i, n := range nodes {
		if n.kind != '(' {
			continue
		}
		name := node{}
		if i > 0 {
			name = nodes[i-1]
		}
		if name.is("count", "max", "min", "sum", "avg", "every") || strings.HasPrefix(name.text, "bool_") ||
			strings.HasSuffix(name.text, "_agg") {
			return true
		}
		if len(n.inside) > 0 && !n.inside[0].is("select") && aggregates(n.inside) {
			return true
		}
	}
	return false
}
