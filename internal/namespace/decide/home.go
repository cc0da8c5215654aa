package decide

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/internal/session"
)

// Home is the database that has the worker rows of a namespace.
type Home struct {
	*session.Database
	row namespace.Namespace
}

// OpenHome connects to the home of a namespace, and refuses any other database.
func OpenHome(ctx context.Context, url string) (*Home, error) {
	d, err := session.Open(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("--home: %w", err)
	}
	row, err := namespace.Read(ctx, d.Conn)
	if err == nil {
		if why, copied := row.Copied(); copied {
			err = fault.WithKind(fault.NotInPlace, session.Refuse(
				`Give the URL of the original, or run "pgflurry migrate up" on that copy first.`, "--home: %s", why))
		} else if row.Home != "" {
			err = session.Contradicts("Give the URL of its home.", "--home: database %q has no worker rows, they "+
				"are in %s",
				row.Database, row.Home)
		}
	}
	if err == nil && row.Closed {
		err = fault.WithKind(fault.NotInPlace, session.Refuse("Give the URL of the database that has taken its place.",
			"--home: database %q was closed for good, and records no join any more", row.Database))
	}
	if err == nil && row.Disposable {
		err = session.Refuse("Make the namespace of the other database by itself, with --disposable.",
			"--home: the namespace of database %q is disposable: nothing can join it", row.Database)
	}
	if err == nil {
		err = d.Facts.NotNewer(ctx, d.Conn, namespace.Revision)
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return &Home{Database: d, row: row}, nil
}

// A claim is the right of a database to one worker, as its home has recorded it.
type claim struct {
	worker int
	mark   int64  // tick: the function may issue from here on
	id     string // UUID: owner in the row
}

// An applicant is a database that wants a worker, as the home's row names it.
type applicant struct{ database, address, version, url string }

// applicantOf is the database of a session, migrated by a version of the program.
func applicantOf(d *session.Database, version string) applicant {
	return applicant{d.Facts.Database, d.Address(), version, d.Given.Or("URL")}
}

// claim takes a worker for another database, for good. It commits before anything uses the worker. If a later step
// fails, the worker is wasted and never used twice.
func (h *Home) claim(ctx context.Context, by applicant) (claim, error) {
	var c claim
	err := h.Acknowledged(func() error {
		return h.Conn.QueryRow(ctx, sql.Claim, by.database, by.address, session.Nullable(by.version), h.row.ID).
			Scan(&c.worker, &c.mark, &c.id)
	})
	if err == nil {
		return c, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return claim{}, session.Failed("claiming a worker in "+h.Address(), err)
	}
	var holders string
	var complete bool
	var wait *int64
	if err := h.Conn.QueryRow(ctx, sql.Claimed).Scan(&holders, &complete, &wait); err != nil {
		return claim{}, session.Failed("reading the workers of "+h.Address(), err)
	}
	now, err := namespace.Read(ctx, h.Conn)
	switch {
	case err != nil || now.ID != h.row.ID:
		return claim{}, session.Refuse("Run it again.", "%s was namespace %s a moment ago, and is not any more",
			h.Address(), h.row.ID)
	case now.Closed:
		return claim{}, session.Refuse("Give the URL of the database that has taken its place.",
			"%s is closed for good, and gives no worker", h.Address())
	case !complete:
		return claim{}, session.Refuse(`If it was only restarted, and its files are those it stopped with, say so:
  pgflurry namespace set --database HOME --joins-complete
Otherwise first run on each that ever joined: pgflurry namespace join --database URL --home HOME`,
			"%s was failed over, restarted, restored or reseeded since it gave its last worker, "+
				"and may have forgotten a database that joined; it knows: %s",
			h.Address(), holders)
	case wait != nil:
		left := max(0, time.Duration(*wait)*time.Millisecond).Truncate(time.Second) + time.Second
		return claim{}, session.Refuse(fmt.Sprintf("Try again in %s.", left),
			"the workers for database functions that are left in %s may have issued IDs that are ahead of the clock",
			h.Address())
	}
	return claim{}, session.Refuse("Their number was fixed when the namespace was made, and each is given out once, "+
		"for good. Use another namespace for this database.",
		"all %d workers for database functions in %s are taken: %s",
		h.row.DatabaseWorkers, h.Address(), holders)
}

// copiedOrMoved is the hint for a worker that was claimed from another address.
func (h *Home) copiedOrMoved(by applicant) string {
	return fmt.Sprintf(`If this is a copy (base backup, snapshot, clone of the machine) and the original lives on, run
  pgflurry namespace join --database %[1]s --home %[2]s --copy
      it gets a worker of its own
If this is the same database and only its address has changed, or the original is gone for good and no other copy has
taken its place, run
  pgflurry namespace move --database %[1]s --home %[2]s --no-other-draws
      the home writes the new address down`, by.url, h.Given.Or("HOME"))
}

// reclaim compares the claim of a joined database with the home's row. If a failover or an old backup of the home has
// forgotten the claim, reclaim records it again. given is true if the home gave the worker to another database
// meanwhile, else now is the claim that the database writes down. moved says that it takes the place of its original,
// and elsewhere that this may be at another address.
func (h *Home) reclaim(
	ctx context.Context, by applicant, worker int, before string, moved, elsewhere bool,
) (now string, given bool, err error) {
	var ours, here, written bool
	var node, from string
	var at *time.Time
	err = h.Acknowledged(func() error {
		return h.Conn.QueryRow(ctx, sql.Reclaim, worker, before, by.database, by.address,
			session.Nullable(by.version), moved, h.row.ID, elsewhere).
			Scan(&ours, &here, &written, &node, &from, &at, &now)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", false, session.Refuse("Run it again.", "%s was namespace %s a moment ago, and is not any more",
			h.Address(), h.row.ID)
	case err != nil:
		return "", false, session.Failed("looking for the worker of this database in "+h.Address(), err)
	case !written:
		return "", false, session.Dropped(h.Database, "recording the claim of this database")
	case !ours:
		return "", true, nil
	case !here:
		return "", false, session.Refuse(h.copiedOrMoved(by),
			"worker %d was claimed by database %q at %s on %s, and this database is at %s",
			worker, node, from, at.UTC().Format(time.DateTime), by.address)
	}
	return now, false, nil
}

// giveBack records in the home that a function has left its worker for good, and how far it got.
func (h *Home) giveBack(ctx context.Context, worker int, claim string, mark int64) error {
	return h.Acknowledged(func() error {
		tag, err := h.Conn.Exec(ctx, sql.GiveBack, worker, claim, mark)
		switch {
		case err != nil:
			return session.Failed(fmt.Sprintf("giving worker %d back", worker), err)
		case tag.RowsAffected() != 1:
			return session.Refuse(fmt.Sprintf("The function has its new worker. Make sure that no other database gets "+
				"worker %d: pgflurry workers list --database HOME.", worker),
				"worker %d is not retired in %s: its row there does not have the claim of this database",
				worker, h.Address())
		}
		return nil
	})
}
