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
	//go:embed queries/as_origin.sql
	asOriginSQL string
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

// oldest is the first version of PostgreSQL that has unlogged sequences.
const oldest = 150000

// cached is how many statements a session caches: more than a migration has.
const cached = 128

// lockKey is the key of the advisory lock that excludes two migrations of one database: "pgflurry" in ASCII.
const lockKey int64 = 0x7067666c75727279

// database is a connection to the database of a migration.
type database struct {
	*pgx.Conn
	settings *pgx.ConnConfig
	facts    facts
	warnings []string // of the server, since the last call of acknowledged
	founded  bool     // this run made the namespace, so it has no IDs yet
	decided  bool     // this run wrote down which database this is, as its operator said
}

// facts are about the server and the rights of this role there.
type facts struct {
	number                      int // 150018
	version, database, role     string
	recovery                    bool
	started                     time.Time // start of the server: distinguishes two servers that are physical copies
	hasSchema, hasPublic        bool
	mayCreateSchema, ownsSchema bool
	schemaOwner                 string
	mayCreateInPublic           bool
	revision                    int // of schema pgflurry; 0: none, or not known
	// which functions have a name in public: sqlfuncs.Snowflake or All; empty: nobody has chosen yet
	public string
}

// open connects, and refuses servers on which pgflurry cannot work. The caller closes.
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
		return nil, err // has host, user and database, never the password
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
	if _, err := d.Exec(ctx, asOriginSQL); err != nil {
		user := pgx.Identifier{d.settings.User}.Sanitize()
		return refuse(fmt.Sprintf("As a superuser run: ALTER ROLE %s RESET session_replication_role; "+
			"or, if the database sets it: ALTER DATABASE %s RESET session_replication_role;",
			user, pgx.Identifier{d.settings.Database}.Sanitize()),
			"the session has session_replication_role = replica, in which guards do not hold, "+
				"and role %q may not set it to origin: %v", d.settings.User, err)
	}
	return d.askServer(ctx)
}

// askServer reads the facts.
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
	_, _ = d.PgConn().Exec(ctx, leaveSQL).ReadAll() // a pooler may give the session to others
	_ = d.Conn.Close(ctx)                           // ends the session and the lock; an error does not matter any more
}

// mayMigrate refuses a standby and a role that lacks a right. The error has the statement that grants the right.
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

// notNewer refuses a schema of a newer program, because this one would put older functions back. last is the number of
// this program's last migration. If a newer program ended between its migrations and its functions, only the record of
// the migrations shows it.
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

// lastApplied returns the number of the last migration in the record; 0: there is none.
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

// notAvailable reports whether the error means that a lock was not free in time.
func notAvailable(err error) bool {
	said, is := errors.AsType[*pgconn.PgError](err)
	return is && said.Code == "55P03"
}

// lock waits until no other migration of this database runs. The session holds the lock until it ends, and does all the
// writing.
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
	return d.askServer(ctx) // another migration may have changed it meanwhile
}

// now returns the clock of the server.
func (d *database) now(ctx context.Context) (time.Time, error) {
	var now time.Time
	if err := d.QueryRow(ctx, clockSQL).Scan(&now); err != nil {
		return time.Time{}, failed("reading the clock of the server", err)
	}
	return now, nil
}

// inTransaction runs do in one transaction: all or nothing.
func (d *database) inTransaction(ctx context.Context, doing string, do func() error) error {
	tx, err := d.Begin(ctx)
	if err != nil {
		return failed(doing, err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // no effect after a commit
	if err := do(); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return failed(doing, err)
	}
	return nil
}

// acknowledged runs a write that must not be lost. It fails if the acknowledgement comes with a warning: if PostgreSQL
// cancels a commit's wait for its synchronous standby, a warning is the only sign.
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

// write runs a statement that changes one row, and fails if it changes none. A trigger that returns NULL drops a write
// without an error.
func (d *database) write(ctx context.Context, doing, statement string, values ...any) error {
	tag, err := d.Exec(ctx, statement, values...)
	if err != nil {
		return failed(doing, err)
	}
	if tag.RowsAffected() != 1 {
		return dropped(d, doing)
	}
	return nil
}

// dropped is the error of a write that PostgreSQL accepted, and that changed nothing.
func dropped(d *database, doing string) error {
	return refuse("Look for triggers, rules and policies that are not pgflurry's: \\d pgflurry.namespace and "+
		"\\d pgflurry.worker in psql show them. Then run it again.",
		"%s changed nothing in database %q, although PostgreSQL reported no error", doing, d.facts.database)
}

// script runs any number of statements without parameters.
func (d *database) script(ctx context.Context, doing, text string) error {
	if _, err := d.PgConn().Exec(ctx, text).ReadAll(); err != nil {
		return failed(doing, err)
	}
	return nil
}

// texts runs a query of one text column. what is its purpose, for an error.
func (d *database) texts(ctx context.Context, what, query string) ([]string, error) {
	return list(ctx, d, what, query, pgx.RowTo[string])
}

// list runs a query and reads each of its rows with read. what is its purpose, for an error.
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
