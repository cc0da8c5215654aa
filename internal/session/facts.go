package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
)

// oldest is the first version of PostgreSQL that has unlogged sequences.
const oldest = 150000

// Facts are about the server and the rights of this role there.
type Facts struct {
	Number                      int // 150018
	Version, Database, Role     string
	Recovery                    bool
	Started                     time.Time // start of the server: distinguishes two servers that are physical copies
	HasSchema, hasPublic        bool
	mayCreateSchema, ownsSchema bool
	schemaOwner                 string
	mayCreateInPublic           bool
	Revision                    int // of schema pgflurry; 0: none, or not known
	// which functions have a name in public: sqlfuncs.Snowflake or All; empty: nobody has chosen yet
	Public string
}

// ReadFacts refuses a server that is too old.
func ReadFacts(ctx context.Context, conn *pgx.Conn) (f Facts, err error) {
	err = conn.QueryRow(ctx, sql.Server).Scan(&f.Number, &f.Version, &f.Recovery, &f.Started, &f.Database, &f.Role,
		&f.HasSchema, &f.hasPublic, &f.mayCreateSchema, &f.ownsSchema, &f.schemaOwner,
		&f.mayCreateInPublic, &f.Revision, &f.Public)
	if err != nil {
		return Facts{}, Failed("asking the server what it is", err)
	}
	if f.Number < oldest {
		return Facts{}, Refuse("Upgrade PostgreSQL, or use another server.",
			"the server is PostgreSQL %s; pgflurry needs 15 or newer", f.Version)
	}
	return f, nil
}

// MayMigrate refuses a standby and a role that lacks a right. The error has the statement that grants the right.
func (f Facts) MayMigrate() error {
	role := pgx.Identifier{f.Role}.Sanitize()
	switch {
	case f.Recovery:
		return Refuse("Give the URL of the primary.", "the server of database %q is a standby: it takes no writes",
			f.Database)
	case !f.ownsSchema:
		return Refuse("Run the migration as that role, or as a member of it.",
			"schema pgflurry of database %q belongs to role %q, and %q is not a member of it",
			f.Database, f.schemaOwner, f.Role)
	case !f.mayCreateSchema: // CREATE SCHEMA IF NOT EXISTS asks for it, whether the schema exists or not
		return Refuse(fmt.Sprintf("As the owner of the database run: GRANT CREATE ON DATABASE %s TO %s;",
			pgx.Identifier{f.Database}.Sanitize(), role),
			"role %q may not create schema pgflurry in database %q", f.Role, f.Database)
	case !f.hasPublic:
		return Refuse("Run: CREATE SCHEMA public;", "database %q has no schema public, where next_snowflake() belongs",
			f.Database)
	case !f.mayCreateInPublic:
		return Refuse(fmt.Sprintf("As the owner of the database or of the schema run: "+
			"GRANT CREATE ON SCHEMA public TO %s;", role),
			"role %q may not create next_snowflake() in schema public of database %q", f.Role, f.Database)
	}
	return nil
}

// Permitted refuses a server that is too old, a standby, and a role that may not run Up there. It only reads.
func Permitted(ctx context.Context, conn *pgx.Conn) error {
	f, err := ReadFacts(ctx, conn)
	if err != nil {
		return err
	}
	return f.MayMigrate()
}

// NotNewer refuses a schema of a newer program, because this one would put older functions back. last is the number of
// this program's last migration. If a newer program ended between its migrations and its functions, only the record of
// the migrations shows it.
func (f Facts) NotNewer(ctx context.Context, conn *pgx.Conn, last int) error {
	applied, err := lastApplied(ctx, conn)
	if err != nil {
		return err
	}
	revision := max(f.Revision, applied)
	if revision <= last {
		return nil
	}
	newer := &namespace.NewerError{Database: f.Database, Revision: revision}
	_ = conn.QueryRow(context.Background(), sql.InstalledBy).Scan(&newer.By) // without it the message says less
	return newer
}

// lastApplied returns the number of the last migration in the record; 0: there is none.
func lastApplied(ctx context.Context, conn *pgx.Conn) (number int, err error) {
	var recorded bool
	if err := conn.QueryRow(ctx, sql.Recorded).Scan(&recorded); err != nil {
		return 0, Failed("looking for the record of the migrations", err)
	}
	if !recorded {
		return 0, nil
	}
	if err := conn.QueryRow(ctx, sql.LastApplied).Scan(&number); err != nil {
		return 0, AppliedUnread(conn, err)
	}
	return number, nil
}

// AppliedUnread says that a schema is older than the first migration of this program, whose record has other columns.
// It adds a hint for a role that only keeps the lease and may not read the record of the migrations.
func AppliedUnread(conn *pgx.Conn, err error) error {
	if said := new(pgconn.PgError); errors.As(err, &said) && said.Code == "42703" { // no such column
		return fault.WithKind(fault.NotInPlace, Refuse("Stop its proxies, and remove the schema with the program that "+
			"made it: \"pgflurry migrate down\". Three seconds later run this again. With the same layout and epoch "+
			"the next IDs are above all earlier ones.",
			"schema pgflurry of database %q was made by a program from before the first migration of this one, "+
				"and cannot be upgraded", conn.Config().Database))
	}
	return namespace.AsLessee(Failed("reading which migrations were applied", err), conn.Config().User)
}

// Clock returns the time of the server.
func Clock(ctx context.Context, conn *pgx.Conn) (time.Time, error) {
	var now time.Time
	if err := conn.QueryRow(ctx, sql.Clock).Scan(&now); err != nil {
		return time.Time{}, Failed("reading the clock of the server", err)
	}
	return now, nil
}
