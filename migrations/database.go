package migrations

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

// lockKey is the key of the advisory lock that excludes two migrations of one database: "pgflurry" in ASCII.
const lockKey int64 = 0x7067666c75727279

// A database is the session of a run with one database: where its writes go. What a step knows it gets as an argument.
type database struct {
	conn     *pgx.Conn
	given    given
	told     func(what string) // what the session does now; may be nil
	facts    facts             // as of open, or of lock
	warnings []string          // of the server, since the last call of acknowledged or certain
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
	d := &database{given: givenAs(url)}
	settings.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		d.warnings = append(d.warnings, fmt.Sprintf("%s: %s", n.Severity, n.Message))
	}
	// A URL for a pooler may switch pgx's caches off, and without them pgx refuses its own default mode.
	settings.StatementCacheCapacity = max(settings.StatementCacheCapacity, cached)
	settings.DescriptionCacheCapacity = max(settings.DescriptionCacheCapacity, cached)
	if d.conn, err = pgx.ConnectConfig(ctx, settings); err != nil {
		return nil, err // has host, user and database, never the password
	}
	if err = setUp(ctx, d.conn); err == nil {
		d.facts, err = readFacts(ctx, d.conn)
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// setUp makes a session one in which the settings of a role or a database do not matter.
func setUp(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, sql.Session); err != nil {
		return failed("setting up the session", err)
	}
	if _, err := conn.Exec(ctx, sql.AsOrigin); err != nil {
		login := conn.Config()
		return refuse(fmt.Sprintf("As a superuser run: ALTER ROLE %s RESET session_replication_role; "+
			"or, if the database sets it: ALTER DATABASE %s RESET session_replication_role;",
			pgx.Identifier{login.User}.Sanitize(), pgx.Identifier{login.Database}.Sanitize()),
			"the session has session_replication_role = replica, in which guards do not hold, "+
				"and role %q may not set it to origin: %v", login.User, err)
	}
	return nil
}

func (d *database) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, _ = d.conn.PgConn().Exec(ctx, sql.Leave).ReadAll() // a pooler may give the session to others
	_ = d.conn.Close(ctx)                                 // ends the session and the lock; an error does not matter
}

// lock waits until no other migration of this database runs. The session holds the lock until it ends, and does all the
// writing.
func (d *database) lock(ctx context.Context) error {
	d.doing("waiting for other migrations of this database")
	switch _, err := d.conn.Exec(ctx, sql.Lock, lockKey); {
	case notAvailable(err):
		var holder int
		_ = d.conn.QueryRow(ctx, sql.Holder, lockKey).Scan(&holder) // without it the message says less
		return refuse("Wait until that has ended, or end it: SELECT pg_terminate_backend(PID).",
			"another migration of this database, or somebody who took its lock, has held it for a minute: "+
				"the session with PID %d", holder)
	case err != nil:
		return failed("waiting for another migration of this database", err)
	}
	now, err := readFacts(ctx, d.conn) // another migration may have changed them meanwhile
	if err == nil {
		d.facts = now
	}
	return err
}

// acknowledged runs a write that must not be lost. It fails if the acknowledgement comes with a warning: if PostgreSQL
// cancels a commit's wait for its synchronous standby, a warning is the only sign.
func (d *database) acknowledged(write func() error) error {
	d.warnings = nil
	if err := write(); err != nil {
		return err
	}
	return d.warned("Run it again. What this one may have taken is never used.")
}

// certain runs a write that is harmless to repeat, and fails if it was not acknowledged cleanly.
func (d *database) certain(write func() error) error {
	const advice = "Run it again: that is harmless."
	d.warnings = nil
	if err := write(); err != nil {
		if fault.HintOf(err) == "" && d.conn.IsClosed() {
			return fault.WithHint(fmt.Errorf("the outcome is unknown: %w", err), advice)
		}
		return err
	}
	return d.warned(advice)
}

// warned is an error if the server has warned.
func (d *database) warned(advice string) error {
	if len(d.warnings) > 0 {
		return refuse(advice, "the outcome is unknown, the server warned: %s", d.warnings[0])
	}
	return nil
}

// doing says what the session does now.
func (d *database) doing(what string) {
	if d.told != nil {
		d.told(what)
	}
}

// address returns host:port/name of the database, without user and password.
func (d *database) address() string {
	c := d.conn.Config()
	return namespace.Address(c.Host, c.Port) + "/" + c.Database
}
