package migrations

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/namespace"
	"pgflurry/outcome"
)

var (
	//go:embed queries/claim.sql
	claimSQL string
	//go:embed queries/claimed.sql
	claimedSQL string
	//go:embed queries/reclaim.sql
	reclaimSQL string
	//go:embed queries/give_back.sql
	giveBackSQL string
	//go:embed queries/take_claim.sql
	takeClaimSQL string
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
		return nil, fmt.Errorf("--join: %w", err)
	}
	row, err := namespace.Read(ctx, d.Conn)
	if err == nil {
		if why, copied := row.Copied(); copied {
			err = outcome.As(outcome.NotInPlace, refuse(
				`Give the URL of the original, or run "pgflurry migrate up" on that copy first.`, "--join: %s", why))
		} else if row.Home != "" {
			err = contradicts("Give the URL of its home.", "--join: database %q has no worker rows, they are in %s",
				row.Database, row.Home)
		}
	}
	if err == nil && row.Closed {
		err = outcome.As(outcome.NotInPlace, refuse("Give the URL of the database that has taken its place.",
			"--join: database %q was closed for good, and records no join any more", row.Database))
	}
	if err == nil && row.Disposable {
		err = refuse("Make the namespace of the other database by itself, with --disposable.",
			"--join: the namespace of database %q is disposable: nothing can join it", row.Database)
	}
	if err == nil {
		err = d.notNewer(ctx, namespace.Revision)
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return &home{database: d, row: row}, nil
}

// address returns host:port/name of a database, without user and password. It replaces a host that means "this machine"
// by the machine's name, because on another machine the same words mean another server.
func address(c *pgx.ConnConfig) string {
	host := c.Host
	ip, err := netip.ParseAddr(host)
	if host == "localhost" || host == "" || host[0] == '/' || host[0] == '@' || err == nil && ip.IsLoopback() {
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	return net.JoinHostPort(host, strconv.Itoa(int(c.Port))) + "/" + c.Database
}

// A claim is the right of a database to one worker, as its home has recorded it.
type claim struct {
	worker int
	mark   int64  // tick: the function may issue from here on
	id     string // UUID: owner in the row
}

// claim takes a worker for the database d, for good. It commits before anything uses the worker. If a later step fails,
// the worker is wasted and never used twice.
func (h *home) claim(ctx context.Context, d *database, version string) (claim, error) {
	var c claim
	err := h.acknowledged(func() error {
		return h.QueryRow(ctx, claimSQL, d.facts.database, address(d.settings), nullable(version), h.row.ID).
			Scan(&c.worker, &c.mark, &c.id)
	})
	if err == nil {
		return c, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return claim{}, failed("claiming a worker in "+address(h.settings), err)
	}
	var holders string
	var complete bool
	var wait *int64
	if err := h.QueryRow(ctx, claimedSQL).Scan(&holders, &complete, &wait); err != nil {
		return claim{}, failed("reading the workers of "+address(h.settings), err)
	}
	now, err := namespace.Read(ctx, h.Conn)
	switch {
	case err != nil || now.ID != h.row.ID:
		return claim{}, refuse("Run it again.", "%s was namespace %s a moment ago, and is not any more",
			address(h.settings), h.row.ID)
	case now.Closed:
		return claim{}, refuse("Give the URL of the database that has taken its place.",
			"%s is closed for good, and gives no worker", address(h.settings))
	case !complete:
		return claim{}, refuse(`On each database that ever joined run: pgflurry migrate up --database URL --join HOME
Then say that all of them stand in the home's rows: pgflurry migrate up --database HOME --joins-complete`,
			"%s was failed over, restarted, restored or reseeded since it gave its last worker, "+
				"and may have forgotten a database that joined; it knows: %s",
			address(h.settings), holders)
	case wait != nil:
		left := max(0, time.Duration(*wait)*time.Millisecond).Truncate(time.Second) + time.Second
		return claim{}, refuse(fmt.Sprintf("Try again in %s.", left),
			"the workers for database functions that are left in %s may have issued IDs that are ahead of the clock",
			address(h.settings))
	}
	return claim{}, refuse("Their number was fixed when the namespace was made, and each is given out once, for good. "+
		"Use another namespace for this database.",
		"all %d workers for database functions in %s are taken: %s",
		h.row.DatabaseWorkers, address(h.settings), holders)
}

// copiedOrMoved is the hint for a worker that was claimed from another address.
const copiedOrMoved = `If this is a copy (base backup, snapshot, clone of the machine) and the original lives on, run
  pgflurry migrate up --database URL --join HOME --copy    which gives it a worker of its own
If this is the same database and only its address has changed, or the original is gone for good and no other copy has
taken its place, run
  pgflurry migrate up --database URL --join HOME --moved   which writes the new address down`

// reclaim compares the claim of a joined database with the home's row. If a failover or an old backup of the home has
// forgotten the claim, reclaim records it again. given is true if the home gave the worker to another database
// meanwhile. Settings.Moved says that the database has another address for good.
func (h *home) reclaim(
	ctx context.Context, d *database, present namespace.Namespace, s Settings,
) (given bool, err error) {
	var ours, here, written bool
	var node, from string
	var claim string
	var at *time.Time
	err = h.acknowledged(func() error {
		return h.QueryRow(ctx, reclaimSQL, present.FunctionWorker, present.Claim, d.facts.database, address(d.settings),
			nullable(s.Version), s.Moved, h.row.ID).
			Scan(&ours, &here, &written, &node, &from, &at, &claim)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, refuse("Give the URL of the database it joined.",
			"%s has no worker %d for a database function, which this database uses",
			address(h.settings), present.FunctionWorker)
	case err != nil:
		return false, failed("looking for the worker of this database in "+address(h.settings), err)
	case !written:
		return false, dropped(h.database, "recording the claim of this database")
	case !ours:
		return true, nil
	case !here:
		return false, refuse(copiedOrMoved,
			"worker %d was claimed by database %q at %s on %s, and this database is at %s",
			present.FunctionWorker, node, from, at.UTC().Format(time.DateTime), address(d.settings))
	}
	return false, d.write(ctx, "writing down the claim", takeClaimSQL, claim)
}

// giveBack records in the home that a function has left its worker for good, and how far it got.
func (h *home) giveBack(ctx context.Context, worker int, claim string, mark int64) error {
	return h.acknowledged(func() error {
		tag, err := h.Exec(ctx, giveBackSQL, worker, claim, mark)
		switch {
		case err != nil:
			return failed(fmt.Sprintf("giving worker %d back", worker), err)
		case tag.RowsAffected() != 1:
			return refuse(fmt.Sprintf("The function has its new worker. Make sure that no other database gets "+
				"worker %d: pgflurry workers list --database HOME.", worker),
				"worker %d is not retired in %s: its row there does not have the claim of this database",
				worker, address(h.settings))
		}
		return nil
	})
}

// nullable returns NULL for an empty text.
func nullable(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
