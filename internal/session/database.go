package session

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
)

// cached is how many statements a session caches: more than a migration has.
const cached = 128

// LockKey is the key of the advisory lock that excludes two migrations of one database: "pgflurry" in ASCII.
const LockKey int64 = 0x7067666c75727279

// A database is the session of a run with one database: where its writes go. What a step knows it gets as an argument.
type Database struct {
	Conn     *pgx.Conn
	Given    given
	Told     func(what string) // what the session does now; may be nil
	Facts    Facts             // as of open, or of lock
	warnings []string          // of the server, since the last call of acknowledged or certain
}

// Open connects, and refuses servers on which pgflurry cannot work. The caller closes.
func Open(ctx context.Context, url string) (*Database, error) {
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
	d := &Database{Given: givenAs(url)}
	settings.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		d.warnings = append(d.warnings, fmt.Sprintf("%s: %s", n.Severity, n.Message))
	}
	// A URL for a pooler may switch pgx's caches off, and without them pgx refuses its own default mode.
	settings.StatementCacheCapacity = max(settings.StatementCacheCapacity, cached)
	settings.DescriptionCacheCapacity = max(settings.DescriptionCacheCapacity, cached)
	if d.Conn, err = pgx.ConnectConfig(ctx, settings); err != nil {
		return nil, err // has host, user and database, never the password
	}
	if err = setUp(ctx, d.Conn); err == nil {
		d.Facts, err = ReadFacts(ctx, d.Conn)
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// setUp makes a session one in which the settings of a role or a database do not matter.
func setUp(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, sql.Session); err != nil {
		return Failed("setting up the session", err)
	}
	if _, err := conn.Exec(ctx, sql.AsOrigin); err != nil {
		login := conn.Config()
		return Refuse(fmt.Sprintf("As a superuser run: ALTER ROLE %s RESET session_replication_role; "+
			"or, if the database sets it: ALTER DATABASE %s RESET session_replication_role;",
			pgx.Identifier{login.User}.Sanitize(), pgx.Identifier{login.Database}.Sanitize()),
			"the session has session_replication_role = replica, in which guards do not hold, "+
				"and role %q may not set it to origin: %v", login.User, err)
	}
	return nil
}

func (d *Database) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, _ = d.Conn.PgConn().Exec(ctx, sql.Leave).ReadAll() // a pooler may give the session to others
	_ = d.Conn.Close(ctx)                                 // ends the session and the lock; an error does not matter
}

// Lock waits until no other migration of this database runs. The session holds the lock until it ends, and does all the
// writing.
func (d *Database) Lock(ctx context.Context) error {
	d.Doing("waiting for other migrations of this database")
	switch _, err := d.Conn.Exec(ctx, sql.Lock, LockKey); {
	case NotAvailable(err):
		var holder int
		_ = d.Conn.QueryRow(ctx, sql.Holder, LockKey).Scan(&holder) // without it the message says less
		return Refuse("Wait until that has ended, or end it: SELECT pg_terminate_backend(PID).",
			"another migration of this database, or somebody who took its lock, has held it for a minute: "+
				"the session with PID %d", holder)
	case err != nil:
		return Failed("waiting for another migration of this database", err)
	}
	now, err := ReadFacts(ctx, d.Conn) // another migration may have changed them meanwhile
	if err == nil {
		d.Facts = now
	}
	return err
}

// Acknowledged runs a write that must not be lost. It fails if the acknowledgement comes with a warning: if PostgreSQL
// cancels a commit's wait for its synchronous standby, a warning is the only sign.
func (d *Database) Acknowledged(write func() error) error {
	d.warnings = nil
	if err := write(); err != nil {
		return err
	}
	return d.warned("Run it again. What this one may have taken is never used.")
}

// Certain runs a write that is harmless to repeat, and fails if it was not acknowledged cleanly.
func (d *Database) Certain(write func() error) error {
	const advice = "Run it again: that is harmless."
	d.warnings = nil
	if err := write(); err != nil {
		if fault.HintOf(err) == "" && d.Conn.IsClosed() {
			return fault.WithHint(fmt.Errorf("the outcome is unknown: %w", err), advice)
		}
		return err
	}
	return d.warned(advice)
}

// warned is an error if the server has warned.
func (d *Database) warned(advice string) error {
	if len(d.warnings) > 0 {
		return Refuse(advice, "the outcome is unknown, the server warned: %s", d.warnings[0])
	}
	return nil
}

// Doing says what the session does now.
func (d *Database) Doing(what string) {
	if d.Told != nil {
		d.Told(what)
	}
}

// Address returns host:port/name of the database, without user and password.
func (d *Database) Address() string {
	c := d.Conn.Config()
	return namespace.Address(c.Host, c.Port) + "/" + c.Database
}
