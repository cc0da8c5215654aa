package command

import (
	_ "embed"

	"pgflurry/proxy/statement"
)

// Drivers send these lookups in the catalogs on their own. If they get an error, they give up, or their transaction has
// failed. They do not need a row of the answer. So these texts get an answer without rows. No other text that reads a
// table gets an answer.
var (
	//go:embed lookups/postgres_js.sql
	postgresJS []byte // types of arrays, by postgres.js
	//go:embed lookups/psycopg2.sql
	psycopg2 []byte // the type hstore, by SQLAlchemy through psycopg 2
	//go:embed lookups/psqlodbc.sql
	psqlODBC []byte // the type lo, by psqlODBC
	//go:embed lookups/pdo_pgsql.sql
	pdoPgsql []byte // the table of a column, even if that has none, by PHP's getColumnMeta
)

// lookUp returns the lookup that a text is, if any.
func lookUp(text []byte) (*Select, bool) {
	switch {
	case same(text, postgresJS):
		return nothing(null("oid", OID), null("typarray", OID)), true
	case same(text, psycopg2):
		return nothing(null("oid", OID), null("typarray", OID)), true
	case same(text, psqlODBC):
		return nothing(null("oid", OID), null("typbasetype", OID)), true
	case same(text, pdoPgsql):
		return nothing(null("relname", Name)), true
	}
	return nil, false
}

func null(label string, oid uint32) target {
	return target{label: label, operands: []operand{{value: Null(oid)}}}
}

// nothing is a Select with columns and no rows.
func nothing(targets ...target) *Select { return &Select{targets: targets, empty: true} }

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
