package migrations

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/namespace"
)

var (
	//go:embed queries/session.sql
	sessionSQL string
	//go:embed queries/leave.sql
	leaveSQL string
	//go:embed queries/server.sql
	serverSQL string
	//go:embed queries/lock.sql
	lockSQL string
	//go:embed queries/holder.sql
	holderSQL string
	//go:embed queries/installed_by.sql
	installedBySQL string
	//go:embed queries/recorded.sql
	recordedSQL string
	//go:embed queries/last_applied.sql
	lastAppliedSQL string
	//go:embed queries/clock.sql
	clockSQL string
)

// oldest version of PostgreSQL that has unlogged sequences.
const oldest = 150000

// cached is how many statements a session remembers: more than a migration has.
const cached = 128

// lockKey names the advisory lock that migrations of one database exclude each other with: "pgflurry" in ASCII.
const lockKey int64 = 0x7067666c75727279

// database is one connection to the database that is migrated.
type database struct {
	*pgx.Conn
	settings *pgx.ConnConfig
	facts    facts
	warnings []string // of the server, since acknowledged was called last
	founded  bool     // this run made the namespace, so nobody can have drawn from it
}

// facts about the server and what this role may do there.
type facts struct {
	number                      int // 150018
	version, database, role     string
	recovery                    bool
	started                     time.Time // of the server: tells two servers apart that are physical copies
	hasSchema, hasPublic        bool
	mayCreateSchema, ownsSchema bool
	schemaOwner                 string
	mayCreateInPublic           bool
	revision                    int // of schema pgflurry; 0: there is none, or it does not say
	// which functions have a name in public: sqlfuncs.Snowflake or All; empty: nobody has chosen yet
	public string
}

// open connects and refuses servers that pgflurry cannot live on. The caller closes.
func open(ctx context.Context, url string) (*database, error) {
	settings, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("the database URL is not usable: %w", err)
	}
	if settings.ConnectTimeout == 0 {
		settings.ConnectTimeout = 10 * time.Second
	}
	if settings.RuntimeParams["application_name"] == "" {
		settings.RuntimeParams["application_name"] = "pgflurry migrate"
	}
	d := &database{settings: settings}
	settings.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		d.warnings = append(d.warnings, fmt.Sprintf("%s: %s", n.Severity, n.Message))
	}
	// A URL for a pooler may switch pgx's caches off, and without them pgx refuses its own default mode.
	settings.StatementCacheCapacity = max(settings.StatementCacheCapacity, cached)
	settings.DescriptionCacheCapacity = max(settings.DescriptionCacheCapacity, cached)
	if d.Conn, err = pgx.ConnectConfig(ctx, settings); err != nil {
		return nil, err // says host, user and database, never the password
	}
	if err := d.begin(ctx); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

func (d *database) begin(ctx context.Context) error {
	if _, err := d.Exec(ctx, sessionSQL); err != nil {
		return failed("setting up the session", err)
	}
	return d.askServer(ctx)
}

// askServer reads what the server and the database are at this moment.
func (d *database) askServer(ctx context.Context) error {
	f := &d.facts
	err := d.QueryRow(ctx, serverSQL).Scan(&f.number, &f.version, &f.recovery, &f.started, &f.database, &f.role,
		&f.hasSchema, &f.hasPublic, &f.mayCreateSchema, &f.ownsSchema, &f.schemaOwner,
		&f.mayCreateInPublic, &f.revision, &f.public)
	if err != nil {
		return failed("asking the server what it is", err)
	}
	if f.number < oldest {
		return refuse("Upgrade PostgreSQL, or use another server.",
			"the server is PostgreSQL %s; pgflurry needs 15 or newer", f.version)
	}
	return nil
}

func (d *database) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, _ = d.PgConn().Exec(ctx, leaveSQL).ReadAll() // a pooler gives the session to others
	_ = d.Conn.Close(ctx)                           // ends the session, and with it the lock; nobody is left to tell
}

// mayMigrate refuses a server that takes no writes and a role that lacks a right, with the statement that grants it.
func (d *database) mayMigrate() error {
	f, role := d.facts, pgx.Identifier{d.facts.role}.Sanitize()
	switch {
	case f.recovery:
		return refuse("Give the URL of the primary.", "the server of database %q is a standby: it takes no writes",
			f.database)
	case !f.hasSchema && !f.mayCreateSchema:
		return refuse(fmt.Sprintf("As the owner of the database run: GRANT CREATE ON DATABASE %s TO %s;",
			pgx.Identifier{f.database}.Sanitize(), role),
			"role %q may not create schema pgflurry in database %q", f.role, f.database)
	case !f.ownsSchema:
		return refuse("Run the migration as that role, or as a member of it.",
			"schema pgflurry of database %q belongs to role %q, and %q is not a member of it",
			f.database, f.schemaOwner, f.role)
	case !f.hasPublic:
		return refuse("Run: CREATE SCHEMA public;", "database %q has no schema public, where next_snowflake() belongs",
			f.database)
	case !f.mayCreateInPublic:
		return refuse(fmt.Sprintf("As the owner of the database or of the schema run: "+
			"GRANT CREATE ON SCHEMA public TO %s;", role),
			"role %q may not create next_snowflake() in schema public of database %q", f.role, f.database)
	}
	return nil
}

// notNewer refuses a schema that a newer program has made: this one, whose last migration has number last, would put
// older functions back. A newer program that ended between its migrations and its functions has left the record of the
// migrations alone.
func (d *database) notNewer(ctx context.Context, last int) error {
	applied, err := d.lastApplied(ctx)
	if err != nil {
		return err
	}
	revision := max(d.facts.revision, applied)
	if revision <= last {
		return nil
	}
	newer := &namespace.NewerError{Database: d.facts.database, Revision: revision}
	_ = d.QueryRow(context.Background(), installedBySQL).Scan(&newer.By) // without it the message says less
	return newer
}

// lastApplied is the number of the last migration in the record; 0: there is none.
func (d *database) lastApplied(ctx context.Context) (number int, err error) {
	var recorded bool
	if err := d.QueryRow(ctx, recordedSQL).Scan(&recorded); err != nil {
		return 0, failed("looking for the record of the migrations", err)
	}
	if !recorded {
		return 0, nil
	}
	if err := d.QueryRow(ctx, lastAppliedSQL).Scan(&number); err != nil {
		return 0, d.appliedUnread(err)
	}
	return number, nil
}

// notAvailable says that a lock was not to be had in time.
func notAvailable(err error) bool {
	said, is := errors.AsType[*pgconn.PgError](err)
	return is && said.Code == "55P03"
}

// lock waits until no other migration of this database runs.
// It holds until the session ends, and this session does the writing.
func (d *database) lock(ctx context.Context) error {
	switch _, err := d.Exec(ctx, lockSQL, lockKey); {
	case notAvailable(err):
		var holder int
		_ = d.QueryRow(ctx, holderSQL, lockKey).Scan(&holder) // without it the message says less
		return refuse("Wait until that has ended, or end it: SELECT pg_terminate_backend(PID).",
			"another migration of this database, or somebody who took its lock, has held it for a minute: "+
				"the session with PID %d", holder)
	case err != nil:
		return failed("waiting for another migration of this database", err)
	}
	return d.askServer(ctx) // another one may have changed it meanwhile
}

// now is the clock of the server.
func (d *database) now(ctx context.Context) (time.Time, error) {
	var now time.Time
	if err := d.QueryRow(ctx, clockSQL).Scan(&now); err != nil {
		return time.Time{}, failed("reading the clock of the server", err)
	}
	return now, nil
}

// inTransaction runs do within one transaction: all or nothing.
func (d *database) inTransaction(ctx context.Context, doing string, do func() error) error {
	tx, err := d.Begin(ctx)
	if err != nil {
		return failed(doing, err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // after a commit it does nothing
	if err := do(); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return failed(doing, err)
	}
	return nil
}

// acknowledged runs a write that must not be lost, and refuses an acknowledgement with a warning in it. A commit whose
// wait for its synchronous standby was cancelled looks like success in every other respect.
func (d *database) acknowledged(write func() error) error {
	d.warnings = nil
	if err := write(); err != nil {
		return err
	}
	if len(d.warnings) > 0 {
		return refuse("Run it again. What this one may have taken is never used.",
			"the outcome is unknown, the server warned: %s", d.warnings[0])
	}
	return nil
}

// script runs any number of statements without parameters.
func (d *database) script(ctx context.Context, doing, text string) error {
	if _, err := d.PgConn().Exec(ctx, text).ReadAll(); err != nil {
		return failed(doing, err)
	}
	return nil
}

// texts runs a query of one column of text; what says what it is for.
func (d *database) texts(ctx context.Context, what, query string) ([]string, error) {
	return list(ctx, d, what, query, pgx.RowTo[string])
}

// list runs a query and reads each of its rows with read; what says what it is for.
func list[T any](ctx context.Context, d *database, what, query string, read pgx.RowToFunc[T]) ([]T, error) {
	rows, err := d.Query(ctx, query)
	if err != nil {
		return nil, failed(what, err)
	}
	all, err := pgx.CollectRows(rows, read)
	if err != nil {
		return nil, failed(what, err)
	}
	return all, nil
}
