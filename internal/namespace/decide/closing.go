package decide

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/namespace"
	"pgflurry/internal/session"
)

// A Closing says whether a database is closed for good, and until when its last grants may be in use.
type Closing struct {
	Database   string
	Closed     bool
	Generation int64
	Since      *time.Time    // when it was closed first; nil: it is not closed
	Home       string        // of its namespace; "": this database
	GrantsEnd  *time.Time    // by the server's clock; nil: no proxy leases from this database
	Left       time.Duration // until then; 0: no grant is in use
	Leases     int           // that may be in use now, of those that the rows know
	Quarantine time.Duration
}

// Close closes a database for good: function, leases and the other ways give nothing more. It waits at most patience
// for each lock. To close it once more is harmless.
func Close(ctx context.Context, url string, patience time.Duration) (Closing, error) {
	d, row, err := openClosing(ctx, url)
	if err != nil {
		return Closing{}, err
	}
	defer d.Close()
	if why, copied := row.Copied(); copied { // its row would say that the original was closed
		return Closing{}, session.Refuse("It gives no IDs.", "database %q cannot be closed: %s", row.Database, why)
	}
	err = d.Certain(func() error {
		return d.InTransaction(ctx, "closing the database", func() error {
			if _, err := d.Conn.Exec(ctx, sql.ClosePatience, fmt.Sprintf("%dms", patience.Milliseconds())); err != nil {
				return session.Failed("closing the database", err)
			}
			if _, err := d.Conn.Exec(ctx, sql.CloseDatabase); err != nil {
				return session.Failed("closing the database", err)
			}
			if _, err := d.Conn.Exec(ctx, sql.CloseGate); err != nil {
				return session.Failed("closing the gate after a failover", err)
			}
			return nil
		})
	})
	if session.NotAvailable(err) {
		return Closing{}, blocked(ctx, d, patience)
	}
	if err != nil {
		return Closing{}, err
	}
	c, err := readClosing(ctx, d.Conn, row)
	if err == nil && (!c.Closed || c.Since == nil) {
		err = session.Refuse("Run it again.", "database %q was closed, and is not: somebody has taken that back, or "+
			"a trigger has dropped the write", row.Database)
	}
	return c, err
}

// LookAtClosing reads whether a database is closed. It uses a connection of its own, because a kept one may lead to a
// server that clients have left.
func LookAtClosing(ctx context.Context, url string) (Closing, error) {
	d, row, err := openClosing(ctx, url)
	if err != nil {
		return Closing{}, err
	}
	defer d.Close()
	return readClosing(ctx, d.Conn, row)
}

// openClosing connects to a database that can be closed.
func openClosing(ctx context.Context, url string) (*session.Database, namespace.Namespace, error) {
	d, err := session.Open(ctx, url)
	if err != nil {
		return nil, namespace.Namespace{}, err
	}
	row, err := namespace.Read(ctx, d.Conn)
	if err == nil && d.Facts.Recovery {
		err = session.Refuse("Give the URL of the primary. A standby follows it.",
			"the server of database %q is a standby: it takes no writes", row.Database)
	}
	if err == nil {
		err = row.Changes()
	}
	if err != nil {
		d.Close()
		return nil, namespace.Namespace{}, err
	}
	return d, row, nil
}

// readClosing reads whether the database is closed.
func readClosing(ctx context.Context, conn *pgx.Conn, row namespace.Namespace) (Closing, error) {
	c := Closing{Database: row.Database, Home: row.Home, Quarantine: row.Quarantine}
	var left *int64
	err := conn.QueryRow(ctx, sql.Closing).Scan(&c.Closed, &c.Generation, &c.Since, &c.GrantsEnd, &left, &c.Leases)
	if err != nil {
		return Closing{}, session.Failed("reading whether the database is closed", err)
	}
	if left != nil {
		c.Left = time.Duration(*left) * time.Millisecond
	}
	return c, nil
}

// blocked is the error if a lock was not free in time.
func blocked(ctx context.Context, d *session.Database, patience time.Duration) error {
	holders, err := session.List(ctx, d.Conn, "looking who holds the tables", sql.CloseBlockers, pgx.RowTo[string],
		session.LockKey)
	if err != nil {
		return err
	}
	who := "whoever held them has just ended"
	if len(holders) > 0 {
		who = "held by " + strings.Join(holders, ", ")
	}
	return session.Refuse("Let these transactions end, or end them: SELECT pg_terminate_backend(PID). Then run it "+
		"again.",
		"database %q was not closed: its tables were not free within %v, %s", d.Facts.Database, patience, who)
}
