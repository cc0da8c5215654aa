package namespace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/generator"
	"pgflurry/internal/fault"
)

// A Namespace is the row of pgflurry.namespace at one look, with the name of the database in which it is.
type Namespace struct {
	ID              string           // UUID, lower case
	Layout          generator.Layout // with epoch and unit
	Region          *int             // the datacenter number whose workers this database has; nil: all workers
	DatabaseWorkers int              // how many of Workers are for database functions
	FunctionWorker  int              // the worker in the text of this database's next_snowflake()
	MaxWindow       time.Duration    // a renewal reserves at most this far ahead
	Skew            time.Duration    // assumed largest difference between two servers' clocks
	Quarantine      time.Duration    // how long a worker rests that was not released
	AcquireAfter    int64            // tick before which no worker is granted
	Home            string           // where the worker rows are, for messages; "": in this database
	Disposable      bool             // for tests: copies of the database give the same IDs
	Claim           string           // UUID: owner in the row of FunctionWorker in the home
	Database        string           // name of the database with this row

	InstalledBy string // version of the program that installed the functions; "": not known
	Revision    int    // of the schema
	LeasesFrom  int    // the oldest revision that a program must know to keep leases here

	Kinds // of its workers

	// Place says which server and database this is, and since which decision of an operator. It is only for comparison
	// with what later connections say. Empty: a standby, which makes no statement.
	Place string
	// Closed: "pgflurry namespace close" has closed this database for good. It gives no IDs.
	Closed bool

	Identity
}

// Revision is the revision of schema pgflurry that this program knows: the number of the last migration. A test of
// package migrations compares the two.
const Revision = 1

// Read reads the row in the database of conn. A database without one gives a *NotMigratedError. If the role may not
// read it, the error has a hint.
func Read(ctx context.Context, conn *pgx.Conn) (Namespace, error) {
	return scan(conn, conn.QueryRow(ctx, sql.Read, Reached(conn)))
}

// scan reads the answer to the statement read.
func scan(conn *pgx.Conn, row pgx.Row) (Namespace, error) {
	var n Namespace
	var unit, maxWindow, skew, quarantine int64
	var functions, others string
	err := row.Scan(&n.ID, &n.Layout.TimestampBits, &n.Layout.DatacenterBits, &n.Layout.WorkerBits,
		&n.Layout.SequenceBits, &n.Layout.Epoch, &unit, &n.DatabaseWorkers, &n.FunctionWorker, &maxWindow, &skew,
		&quarantine, &n.AcquireAfter, &n.Home, &n.Disposable, &n.Claim, &n.InstalledBy, &n.Revision, &n.LeasesFrom,
		&n.Region, &n.copied, &n.Database, &n.Place, &n.Closed, &functions, &others,
		&n.NewServer, &n.RefusesNew, &n.toNote)
	if err != nil {
		return Namespace{}, readError(conn, err)
	}
	n.Layout.Epoch = n.Layout.Epoch.UTC()
	n.Layout.Unit = microseconds(unit)
	n.MaxWindow, n.Skew, n.Quarantine = microseconds(maxWindow), microseconds(skew), microseconds(quarantine)
	if err := n.Layout.Validate(); err != nil {
		err = fmt.Errorf("the namespace row of database %q has a layout that this version does not know: %w",
			n.Database, err)
		return Namespace{}, err
	}
	if n.Functions, err = parseMultirange(functions); err != nil {
		return Namespace{}, err
	}
	if n.Foreign, err = parseMultirange(others); err != nil {
		return Namespace{}, err
	}
	if n.Region == nil {
		return n, nil
	}
	if _, _, err := n.Layout.WorkersOf(*n.Region); err != nil {
		return Namespace{}, fmt.Errorf("the namespace row of database %q has a region that its layout lacks: %w",
			n.Database, err)
	}
	return n, nil
}

func microseconds(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// Copied reports whether the row was written for another database: this one was restored, cloned or made from a
// template, or restored in place. why is a sentence for people. The package comment says which copies it cannot see.
func (n Namespace) Copied() (why string, copied bool) { return n.copied, n.copied != "" }

// Serves returns an error if a program of this revision may not, or cannot, keep leases in the database.
func (n Namespace) Serves() error {
	if n.LeasesFrom > Revision {
		return n.newer()
	}
	return nil
}

// Changes returns an error if a later revision owns the schema, so that this program may not change its rows.
func (n Namespace) Changes() error {
	if n.Revision > Revision {
		return n.newer()
	}
	return nil
}

func (n Namespace) newer() error {
	return &NewerError{Database: n.Database, Revision: n.Revision, By: n.InstalledBy}
}

// A NewerError means that schema pgflurry of a database is newer than this program knows.
type NewerError struct {
	Database string
	Revision int    // of the schema
	By       string // version of the program that made it; "": not known
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("schema pgflurry of database %q has revision %d, and this program knows revision %d",
		e.Database, e.Revision, Revision)
}

// Kind is that the schema is not what this program needs.
func (e *NewerError) Kind() fault.Kind { return fault.NotInPlace }

// Hint says which version to use.
func (e *NewerError) Hint() string {
	if e.By == "" {
		return "Use a newer version of pgflurry."
	}
	return fmt.Sprintf("Use pgflurry %s, which installed it, or a newer version.", e.By)
}

// An OlderError means that schema pgflurry of a database is older than this program can work with.
type OlderError struct{ Database string }

func (e *OlderError) Error() string {
	return fmt.Sprintf("schema pgflurry of database %q is of an older version than this program", e.Database)
}

// Kind is that the schema is not what this program needs.
func (e *OlderError) Kind() fault.Kind { return fault.NotInPlace }

// Hint says what to run.
func (e *OlderError) Hint() string {
	return fmt.Sprintf(`Run "pgflurry migrate up --database URL" with the URL of database %q.`, e.Database)
}

// A NotMigratedError means that a database belongs to no namespace.
type NotMigratedError struct {
	Database string // its name
}

func (e *NotMigratedError) Error() string {
	return fmt.Sprintf("database %q has no pgflurry namespace", e.Database)
}

// Kind says that the namespace is missing.
func (e *NotMigratedError) Kind() fault.Kind { return fault.NotInPlace }

// Hint says what to run.
func (e *NotMigratedError) Hint() string {
	return fmt.Sprintf(`Run "pgflurry migrate up --database URL" with the URL of database %q.`, e.Database)
}

// readError turns an error of PostgreSQL into one that says what to do.
func readError(conn *pgx.Conn, err error) error {
	var said *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return &NotMigratedError{Database: conn.Config().Database}
	case !errors.As(err, &said):
		return fmt.Errorf("reading the namespace of database %q: %w", conn.Config().Database, err)
	}
	switch said.Code {
	case "42P01", "3F000": // undefined table, schema
		return &NotMigratedError{Database: conn.Config().Database}
	case "42703", "42883": // undefined column, function
		return &OlderError{Database: conn.Config().Database}
	case "42501": // insufficient privilege
		role := conn.Config().User
		return AsLessee(fmt.Errorf("role %q may not read the pgflurry namespace of database %q: %w", role,
			conn.Config().Database, err), role)
	}
	return fmt.Errorf("reading the namespace of database %q: %w", conn.Config().Database, err)
}
