package decide

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/session"
)

// NewestID returns the highest ID that no new one may be below: AfterID, or the highest one of AfterTables. nil: the
// operator names none.
func NewestID(ctx context.Context, d *session.Database, s Settings) (*int64, error) {
	highest, of := s.AfterID, ""
	for _, name := range s.AfterTables {
		column, err := namedColumn(ctx, d, name)
		if err != nil {
			return nil, err
		}
		id, err := highestOf(ctx, d, column)
		if err != nil {
			return nil, err
		}
		if id != nil && (highest == nil || *id > *highest) {
			highest, of = id, column.String()
		}
	}
	switch {
	case len(s.AfterTables) == 0:
		return highest, nil
	case highest == nil:
		return nil, session.Contradicts("Name a column that has IDs, or give the highest one. If there are none at "+
			"all, leave --after-id out.",
			"--after-id names columns without an ID: %s", strings.Join(s.AfterTables, ", "))
	case of != "":
		s.Tell(fmt.Sprintf("the highest ID is %d, of %s", *highest, of))
	}
	return highest, nil
}

// A column is one of this database, and exists.
type column struct{ schema, table, name string }

func (c column) String() string { return pgx.Identifier{c.schema, c.table, c.name}.Sanitize() }

// namedColumn finds the column that a person named as SCHEMA.TABLE.COLUMN. It refuses one that cannot hold IDs.
func namedColumn(ctx context.Context, d *session.Database, name string) (column, error) {
	const advice = `Give SCHEMA.TABLE.COLUMN as in SQL: app.orders.id. ` +
		`A name with upper case needs double quotes: app."Orders".id.`
	no := func(format string, values ...any) (column, error) {
		return column{}, session.Contradicts(advice, "--after-id %s: "+format, append([]any{name}, values...)...)
	}
	var parts []string
	var schema, table, bigint bool
	var kind *string
	err := d.Conn.QueryRow(ctx, sql.NamedColumn, name).Scan(&parts, &schema, &table, &kind, &bigint)
	if said := new(pgconn.PgError); errors.As(err, &said) && said.Code == "22023" {
		return no("%s", said.Message)
	}
	if err != nil {
		return column{}, session.Failed("looking for the column of --after-id", err)
	}
	switch {
	case len(parts) > 3:
		return column{}, session.Contradicts("Read the highest ID in each other database, and give the highest of "+
			"all: --after-id ID.",
			"--after-id %s has %d parts: only tables of database %q can be read, not those of another one",
			name, len(parts), d.Facts.Database)
	case len(parts) < 3:
		return no("it has %d of the parts schema, table, column", len(parts))
	case !schema:
		return no("database %q has no schema %q", d.Facts.Database, parts[0])
	case !table:
		return no("schema %q has no table %q", parts[0], parts[1])
	case kind == nil:
		return no("table %q has no column %q", parts[1], parts[2])
	case !bigint:
		return column{}, session.Contradicts("If its values are IDs all the same, read the highest one, and give it: "+
			"--after-id ID.",
			"--after-id %s: the column is of type %s; expected bigint", name, *kind)
	}
	return column{parts[0], parts[1], parts[2]}, nil
}

// highestOf reads the highest ID of a column; nil: it has none.
func highestOf(ctx context.Context, d *session.Database, c column) (id *int64, err error) {
	name, table := pgx.Identifier{c.name}.Sanitize(), pgx.Identifier{c.schema, c.table}.Sanitize()
	err = d.Conn.QueryRow(ctx, fmt.Sprintf(sql.Newest, name, table)).Scan(&id)
	if said := new(pgconn.PgError); errors.As(err, &said) && said.Code == "42501" {
		return nil, session.Refuse("Run it as a role that may read each row: with SELECT, and with no policy that "+
			"hides rows. Or read the highest ID as such a role, and give it: --after-id ID.",
			"role %q cannot read the highest ID of %v: %s", d.Facts.Role, c, said.Message)
	}
	if err != nil {
		return nil, session.Failed(fmt.Sprintf("reading the highest ID of %v", c), err)
	}
	if id != nil && *id < 0 {
		return nil, session.Contradicts("Name a column that has IDs.",
			"the highest value of %v is %d, and no ID is negative", c, *id)
	}
	return id, nil
}
