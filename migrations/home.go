package migrations

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
)

// home is the database that has the worker rows of a namespace.
type home struct {
	*database
	row namespace.Namespace
}

// openHome connects to the home of a namespace, and refuses any other database.
func openHome(ctx context.Context, url string) (*home, error) {
	d, err := open(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("--home: %w", err)
	}
	row, err := namespace.Read(ctx, d.conn)
	if err == nil {
		if why, copied := row.Copied(); copied {
			err = fault.WithKind(fault.NotInPlace, refuse(
				`Give the URL of the original, or run "pgflurry migrate up" on that copy first.`, "--home: %s", why))
		} else if row.Home != "" {
			err = contradicts("Give the URL of its home.", "--home: database %q has no worker rows, they are in %s",
				row.Database, row.Home)
		}
	}
	if err == nil && row.Closed {
		err = fault.WithKind(fault.NotInPlace, refuse("Give the URL of the database that has taken its place.",
			"--home: database %q was closed for good, and records no join any more", row.Database))
	}
	if err == nil && row.Disposable {
		err = refuse("Make the namespace of the other database by itself, with --disposable.",
			"--home: the namespace of database %q is disposable: nothing can join it", row.Database)
	}
	if err == nil {
		err = d.facts.notNewer(ctx, d.conn, namespace.Revision)
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return &home{database: d, row: row}, nil
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
func applicantOf(d *database, version string) applicant {
	return applicant{d.facts.database, d.address(), version, d.given.or("URL")}
}

// claim takes a worker for another database, for good. It commits before anything uses the worker. If a later step
// fails, the worker is wasted and never used twice.
func (h *home) claim(ctx context.Context, by applicant) (claim, error) {
	var c claim
	err := h.acknowledged(func() error {
		return h.conn.QueryRow(ctx, sql.Claim, by.database, by.address, nullable(by.version), h.row.ID).
			Scan(&c.worker, &c.mark, &c.id)
	})
	if err == nil {
		return c, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return claim{}, failed("claiming a worker in "+h.address(), err)
	}
	var holders string
	var complete bool
	var wait *int64
	if err := h.conn.QueryRow(ctx, sql.Claimed).Scan(&holders, &complete, &wait); err != nil {
		return claim{}, failed("reading the workers of "+h.address(), err)
	}
	now, err := namespace.Read(ctx, h.conn)
	switch {
	case err != nil || now.ID != h.row.ID:
		return claim{}, refuse("Run it again.", "%s was namespace %s a moment ago, and is not any more",
			h.address(), h.row.ID)
	case now.Closed:
		return claim{}, refuse("Give the URL of the database that has taken its place.",
			"%s is closed for good, and gives no worker", h.address())
	case !complete:
		return claim{}, refuse(`On each that ever joined run: pgflurry namespace join --database URL --home HOME
Then say that all of them stand in the home's rows: pgflurry namespace set --database HOME --joins-complete`,
			"%s was failed over, restarted, restored or reseeded since it gave its last worker, "+
				"and may have forgotten a database that joined; it knows: %s",
			h.address(), holders)
	case wait != nil:
		left := max(0, time.Duration(*wait)*time.Millisecond).Truncate(time.Second) + time.Second
		return claim{}, refuse(fmt.Sprintf("Try again in %s.", left),
			"the workers for database functions that are left in %s may have issued IDs that are ahead of the clock",
			h.address())
	}
	return claim{}, refuse("Their number was fixed when the namespace was made, and each is given out once, for good. "+
		"Use another namespace for this database.",
		"all %d workers for database functions in %s are taken: %s",
		h.row.DatabaseWorkers, h.address(), holders)
}

// copiedOrMoved is the hint for a worker that was claimed from another address.
func (h *home) copiedOrMoved(by applicant) string {
	return fmt.Sprintf(`If this is a copy (base backup, snapshot, clone of the machine) and the original lives on, run
  pgflurry namespace join --database %[1]s --home %[2]s --copy
      it gets a worker of its own
If this is the same database and only its address has changed, or the original is gone for good and no other copy has
taken its place, run
  pgflurry namespace move --database %[1]s --home %[2]s --no-other-draws
      the home writes the new address down`, by.url, h.given.or("HOME"))
}

// reclaim compares the claim of a joined database with the home's row. If a failover or an old backup of the home has
// forgotten the claim, reclaim records it again. given is true if the home gave the worker to another database
// meanwhile, else now is the claim that the database writes down. moved says that it has another address for good.
func (h *home) reclaim(
	ctx context.Context, by applicant, worker int, before string, moved bool,
) (now string, given bool, err error) {
	var ours, here, written bool
	var node, from string
	var at *time.Time
	err = h.acknowledged(func() error {
		return h.conn.QueryRow(ctx, sql.Reclaim, worker, before, by.database, by.address, nullable(by.version), moved,
			h.row.ID).
			Scan(&ours, &here, &written, &node, &from, &at, &now)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", false, refuse("Run it again.", "%s was namespace %s a moment ago, and is not any more",
			h.address(), h.row.ID)
	case err != nil:
		return "", false, failed("looking for the worker of this database in "+h.address(), err)
	case !written:
		return "", false, dropped(h.database, "recording the claim of this database")
	case !ours:
		return "", true, nil
	case !here:
		return "", false, refuse(h.copiedOrMoved(by),
			"worker %d was claimed by database %q at %s on %s, and this database is at %s",
			worker, node, from, at.UTC().Format(time.DateTime), by.address)
	}
	return now, false, nil
}

// giveBack records in the home that a function has left its worker for good, and how far it got.
func (h *home) giveBack(ctx context.Context, worker int, claim string, mark int64) error {
	return h.acknowledged(func() error {
		tag, err := h.conn.Exec(ctx, sql.GiveBack, worker, claim, mark)
		switch {
		case err != nil:
			return failed(fmt.Sprintf("giving worker %d back", worker), err)
		case tag.RowsAffected() != 1:
			return refuse(fmt.Sprintf("The function has its new worker. Make sure that no other database gets "+
				"worker %d: pgflurry workers list --database HOME.", worker),
				"worker %d is not retired in %s: its row there does not have the claim of this database",
				worker, h.address())
		}
		return nil
	})
}
