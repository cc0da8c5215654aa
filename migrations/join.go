package migrations

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/namespace"
)

var (
	//go:embed queries/create_joined.sql
	createJoinedSQL string
	//go:embed queries/same_windows.sql
	sameWindowsSQL string
	//go:embed queries/claim.sql
	claimSQL string
	//go:embed queries/reclaim.sql
	reclaimSQL string
	//go:embed queries/claimed.sql
	claimedSQL string
	//go:embed queries/former_mark.sql
	formerMarkSQL string
	//go:embed queries/identify.sql
	identifySQL string
	//go:embed queries/original.sql
	originalSQL string
	//go:embed queries/gate.sql
	gateSQL string
	//go:embed queries/join_copy.sql
	joinCopySQL string
	//go:embed queries/found_namespace.sql
	foundNamespaceSQL string
)

// home is the database with the worker rows of a namespace.
type home struct {
	*database
	row namespace.Namespace
}

// openHome connects to the home of a namespace and refuses a database that is none.
func openHome(ctx context.Context, url string) (*home, error) {
	d, err := open(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("--join: %w", err)
	}
	row, err := namespace.Read(ctx, d.Conn)
	if err == nil {
		if why, copied := row.Copied(); copied {
			err = refuse("Give the URL of the original, or settle that copy first.", "--join: %s", why)
		} else if row.Home != "" {
			err = refuse("Give the URL of its home.", "--join: database %q has no worker rows, they are in %s", row.Database, row.Home)
		}
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return &home{database: d, row: row}, nil
}

// address is how people find a database: host:port/name, without user and password.
func address(c *pgx.ConnConfig) string {
	return net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))) + "/" + c.Database
}

// A claimed worker is one that the home has given to a database.
type claimed struct {
	worker int
	mark   int64 // tick; the function may issue from here on
}

// claim takes a worker for the database d, for good. It commits before anything carries the worker: if what follows fails, the
// worker is lost, and never used twice.
func (h *home) claim(ctx context.Context, d *database, version string) (claimed, error) {
	var c claimed
	err := h.acknowledged(func() error {
		return h.QueryRow(ctx, claimSQL, d.facts.database, address(d.settings), nullable(version)).Scan(&c.worker, &c.mark)
	})
	if err == nil {
		return c, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return claimed{}, failed("claiming a worker in "+address(h.settings), err)
	}
	var holders string
	var wait *int64
	if err := h.QueryRow(ctx, claimedSQL).Scan(&holders, &wait); err != nil {
		return claimed{}, failed("reading the workers of "+address(h.settings), err)
	}
	if wait != nil {
		left := max(0, time.Duration(*wait)*time.Millisecond).Truncate(time.Second) + time.Second
		return claimed{}, refuse(fmt.Sprintf("Try again in %s.", left),
			"the workers for database functions that are left in %s may have issued IDs that are ahead of the clock", address(h.settings))
	}
	return claimed{}, refuse("Their number was fixed when the namespace was made, and each is given out once, for good. Use another namespace for this database.",
		"all %d workers for database functions in %s are taken: %s", h.row.DatabaseWorkers, address(h.settings), holders)
}

// goOnAt lets the function begin after whatever its worker may have issued before.
func (d *database) goOnAt(ctx context.Context, c claimed) error {
	if _, err := d.Exec(ctx, formerMarkSQL, c.mark); err != nil {
		return failed("setting the mark of the function", err)
	}
	return nil
}

// joinNew makes an empty database another one of the namespace.
func (d *database) joinNew(ctx context.Context, s Settings, h *home) error {
	layout, err := s.layout(h.row.Layout)
	if err != nil {
		return err
	}
	if !sameLayout(layout, h.row.Layout) {
		return refuse("Leave the layout out: a database that joins takes the layout of its home.",
			"the namespace in %s has layout %s, not %s", address(h.settings), spell(h.row.Layout), spell(layout))
	}
	c, err := h.claim(ctx, d, s.Version)
	if err != nil {
		return err
	}
	_, err = d.Exec(ctx, createJoinedSQL, layout.TimestampBits, layout.DatacenterBits, layout.WorkerBits, layout.SequenceBits,
		layout.Epoch, layout.Unit.Milliseconds(), h.row.DatabaseWorkers, h.row.ID, c.worker, address(h.settings))
	if err != nil {
		return failed("making the namespace row", err)
	}
	_, err = d.Exec(ctx, sameWindowsSQL, h.row.MaxWindow.Microseconds(), h.row.Skew.Microseconds(), h.row.Quarantine.Microseconds())
	if err != nil {
		return failed("taking over the windows of the namespace", err)
	}
	return d.goOnAt(ctx, c)
}

// joinAnew gives a database that is filled already a worker of its own in the namespace it came from.
func (d *database) joinAnew(ctx context.Context, s Settings, h *home) error {
	c, err := h.claim(ctx, d, s.Version)
	if err != nil {
		return err
	}
	if _, err := d.Exec(ctx, joinCopySQL, c.worker, address(h.settings)); err != nil {
		return failed("joining the namespace", err)
	}
	return d.goOnAt(ctx, c)
}

// reclaim sees that the home knows whose the worker of this joined database is. A failover or an old backup of the home may have forgotten
// it: then it is written down again, or, if another database was given the worker meanwhile, this one gets another.
func (d *database) reclaim(ctx context.Context, s Settings, present namespace.Namespace, h *home) error {
	var holder string
	err := h.acknowledged(func() error {
		return h.QueryRow(ctx, reclaimSQL, present.FunctionWorker, d.facts.database, address(d.settings), nullable(s.Version)).Scan(&holder)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return refuse("Give the URL of the database it joined.", "%s has no worker %d for a database function, which this database uses",
			address(h.settings), present.FunctionWorker)
	case err != nil:
		return failed("looking for the worker of this database in "+address(h.settings), err)
	case holder == d.facts.database:
		return nil
	}
	return d.joinAnew(ctx, s, h)
}

// settleCopy gives a copy of a database what it needs to be safe, once somebody has said what it is to be.
func (d *database) settleCopy(ctx context.Context, s Settings, present namespace.Namespace, h *home, why string) error {
	switch {
	case h != nil:
		if h.row.ID != present.ID {
			return refuse("Run it with --new-namespace if the copy shall be an ID space of its own.",
				"database %q is a copy from namespace %s and cannot join %s of %s: its IDs could meet theirs",
				present.Database, present.ID, h.row.ID, address(h.settings))
		}
		if err := d.joinAnew(ctx, s, h); err != nil {
			return err
		}
	case s.NewNamespace:
		if err := d.script(ctx, "making the copy a namespace of its own", foundNamespaceSQL); err != nil {
			return err
		}
	case s.Moved:
		if err := d.originalGone(ctx); err != nil {
			return err
		}
		if err := d.script(ctx, "closing the gate until old grants have ended", gateSQL); err != nil {
			return err
		}
	default:
		return refuse(`Its function still carries the worker of the original. Run one of:
  pgflurry migrate up --database URL --join URL-OF-THE-ORIGINAL   to share one ID space with the original, with a worker of its own
  pgflurry migrate up --database URL --new-namespace              to make it an ID space of its own
  pgflurry migrate up --database URL --moved                      if it takes the place of the original, which is gone for good`, "%s", why)
	}
	return d.script(ctx, "writing down which database this is", identifySQL)
}

// originalGone refuses while the database that this one shall take the place of is still on this server: its function would go on with
// the same worker. An original on another server cannot be seen from here.
func (d *database) originalGone(ctx context.Context) error {
	var name string
	var oid uint32
	err := d.QueryRow(ctx, originalSQL).Scan(&name, &oid)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return failed("looking for the original", err)
	}
	return refuse(fmt.Sprintf("Drop %s first. If both shall stay, use --join to share one ID space, or --new-namespace.", pgx.Identifier{name}.Sanitize()),
		"database %q has not moved: its original, database %q (oid %d), still exists on this server",
		d.facts.database, name, oid)
}

// clones says whether this is a physical copy of the home: both call themselves the home of one namespace, on two servers.
// It shows only where both are at hand.
func (d *database) clones(present namespace.Namespace, h *home) (why string, is bool) {
	if present.Home != "" || present.ID != h.row.ID || d.facts.started.Equal(h.facts.started) {
		return "", false
	}
	return fmt.Sprintf("database %q is a physical copy of %s", present.Database, address(h.settings)), true
}

// stay refuses what only copies and new databases can do, and sees that the home of one that has joined knows it.
func (d *database) stay(ctx context.Context, s Settings, present namespace.Namespace, h *home) error {
	switch {
	case s.NewNamespace || s.Moved:
		return refuse("Leave --new-namespace and --moved out: they are for copies.",
			"database %q is not a copy: it belongs to namespace %s", present.Database, present.ID)
	case h == nil:
		return nil
	case h.row.ID != present.ID:
		return refuse("A database belongs to one namespace for good: its IDs could meet those of another.",
			"database %q belongs to namespace %s, not to %s of %s", present.Database, present.ID, h.row.ID, address(h.settings))
	case present.Home == "":
		return refuse("Leave --join out.", "database %q is the home of namespace %s itself", present.Database, present.ID)
	}
	return d.reclaim(ctx, s, present, h)
}

// nullable is NULL for an unknown text.
func nullable(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
