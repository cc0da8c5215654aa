package namespace

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/generator"
)

// A Namespace is the row of pgflurry.namespace as it was when it was read, and the database it was read in.
type Namespace struct {
	ID              string           // UUID, lower case
	Layout          generator.Layout // with epoch and unit
	DatabaseWorkers int              // workers 0 to DatabaseWorkers-1 are for database functions
	FunctionWorker  int              // the worker in the text of this database's next_snowflake()
	MaxWindow       time.Duration    // a renewal reserves at most this far ahead
	Skew            time.Duration    // assumed limit of the difference between two servers' clocks
	Quarantine      time.Duration    // rest of a worker that was not released
	AcquireAfter    int64            // tick before which no worker is granted
	Home            string           // where the worker rows are, for messages; "": in this database
	Database        string           // name of the database this was read in

	written, here identity
	writtenName   string // name of the database in which the row was written
}

// An identity tells databases apart.
type identity struct {
	system *int64 // nil: the server does not tell
	oid    uint32
	table  uint32 // pgflurry.namespace
}

//go:embed read.sql
var readSQL string

// Read reads the row in the database of conn. A database without one gives a *NotMigratedError; a role that may not read it,
// an error with a hint.
func Read(ctx context.Context, conn *pgx.Conn) (Namespace, error) {
	var n Namespace
	var unit, maxWindow, skew, quarantine int64
	err := conn.QueryRow(ctx, readSQL).Scan(&n.ID, &n.Layout.TimestampBits, &n.Layout.DatacenterBits, &n.Layout.WorkerBits,
		&n.Layout.SequenceBits, &n.Layout.Epoch, &unit, &n.DatabaseWorkers, &n.FunctionWorker, &maxWindow, &skew, &quarantine,
		&n.AcquireAfter, &n.Home, &n.writtenName, &n.written.system, &n.written.oid, &n.written.table,
		&n.here.system, &n.here.oid, &n.here.table, &n.Database)
	if err != nil {
		return Namespace{}, readError(conn, err)
	}
	n.Layout.Epoch = n.Layout.Epoch.UTC()
	n.Layout.Unit = microseconds(unit)
	n.MaxWindow, n.Skew, n.Quarantine = microseconds(maxWindow), microseconds(skew), microseconds(quarantine)
	if err := n.Layout.Validate(); err != nil {
		return Namespace{}, fmt.Errorf("the namespace row of database %q has a layout that this version does not know: %w", n.Database, err)
	}
	return n, nil
}

func microseconds(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// Copied says whether the row was written in another database: this one is a restored backup, a clone or was made from a
// template, and its function still carries the worker of the original; or a dump was restored in place, and the rows have
// forgotten what was granted since. why is a sentence for people.
//
// A physical copy that was not promoted to another WAL timeline cannot be told from its original.
func (n Namespace) Copied() (why string, copied bool) {
	switch {
	case n.written.system != nil && n.here.system != nil && *n.written.system != *n.here.system:
		return fmt.Sprintf("database %q is a copy: its namespace was made on server cluster %d, in database %q, and this is server cluster %d",
			n.Database, *n.written.system, n.writtenName, *n.here.system), true
	case n.written.oid != n.here.oid:
		return fmt.Sprintf("database %q is a copy: its namespace was made in database %q (oid %d), and this one has oid %d",
			n.Database, n.writtenName, n.written.oid, n.here.oid), true
	case n.written.table != n.here.table:
		return fmt.Sprintf("database %q was restored: its namespace was made in a table with oid %d, and this one has oid %d; what was granted since the dump is forgotten",
			n.Database, n.written.table, n.here.table), true
	}
	return "", false
}

// A NotMigratedError says that a database belongs to no namespace.
type NotMigratedError struct {
	Database string // its name
}

func (e *NotMigratedError) Error() string {
	return fmt.Sprintf("database %q has no pgflurry namespace", e.Database)
}

// Hint says what to run.
func (e *NotMigratedError) Hint() string {
	return fmt.Sprintf(`Run "pgflurry migrate up --database URL" with the URL of database %q.`, e.Database)
}

// A ForbiddenError says that the role of a connection may not read the namespace.
type ForbiddenError struct {
	Database, Role string
	cause          error
}

func (e *ForbiddenError) Error() string {
	return fmt.Sprintf("role %q may not read the pgflurry namespace of database %q: %v", e.Role, e.Database, e.cause)
}

func (e *ForbiddenError) Unwrap() error { return e.cause }

// Hint says what to grant.
func (e *ForbiddenError) Hint() string {
	role := pgx.Identifier{e.Role}.Sanitize()
	return fmt.Sprintf("As the owner run: GRANT USAGE ON SCHEMA pgflurry TO %s; GRANT SELECT, UPDATE ON pgflurry.namespace, pgflurry.worker, pgflurry.segment TO %s; GRANT SELECT ON pgflurry.migration TO %s;", role, role, role)
}

// readError turns what PostgreSQL said into what to do about it.
func readError(conn *pgx.Conn, err error) error {
	var said *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return &NotMigratedError{Database: conn.Config().Database}
	case !errors.As(err, &said):
		return fmt.Errorf("reading the namespace of database %q: %w", conn.Config().Database, err)
	}
	switch said.Code {
	case "42P01", "3F000", "42883": // undefined table, schema, function
		return &NotMigratedError{Database: conn.Config().Database}
	case "42501": // insufficient privilege
		return &ForbiddenError{Database: conn.Config().Database, Role: conn.Config().User, cause: err}
	}
	return fmt.Errorf("reading the namespace of database %q: %w", conn.Config().Database, err)
}
