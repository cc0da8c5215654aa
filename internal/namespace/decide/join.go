package decide

import (
	"context"
	"fmt"

	"pgflurry/internal/namespace"
	"pgflurry/internal/session"
)

// joinNew makes an empty database another one of the namespace.
func joinNew(ctx context.Context, d *session.Database, s Settings, h *Home) error {
	if err := sameSpace(s, h.row); err != nil {
		return fmt.Errorf("--home: %w", err)
	}
	layout, err := s.WantedLayout(h.row.Layout)
	if err != nil {
		return err
	}
	if !layout.Equal(h.row.Layout) {
		return session.Contradicts("Leave the layout out: a database that joins takes the layout of its home.",
			"the namespace in %s has layout %s, not %s", h.Address(), h.row.Layout.Full(), layout.Full())
	}
	c, err := h.claim(ctx, applicantOf(d, s.Version))
	if err != nil {
		return err
	}
	_, err = d.Conn.Exec(ctx, sql.CreateJoined, layout.TimestampBits, layout.DatacenterBits, layout.WorkerBits,
		layout.SequenceBits, layout.Epoch, layout.Unit.Milliseconds(), h.row.DatabaseWorkers, h.row.ID, c.worker,
		h.Address(), c.id, h.row.Region, h.row.Foreign.Multirange())
	if err != nil {
		return session.Failed("making the namespace row", err)
	}
	if err := followHome(ctx, d, h); err != nil {
		return err
	}
	return goOnAt(ctx, d, c)
}

// followHome copies what may have changed in the home since the database joined: its windows, and its name or address.
// An old version may have written a quarantine there that this one does not allow.
func followHome(ctx context.Context, d *session.Database, h *Home) error {
	quarantine := max(h.row.Quarantine, leastQuarantine(h.row.MaxWindow, h.row.Skew, h.row.Layout.Unit))
	return d.Write(ctx, "taking over the windows of the namespace", sql.FollowHome, h.row.MaxWindow.Microseconds(),
		h.row.Skew.Microseconds(), quarantine.Microseconds(), h.Address())
}

// joinAnew gives a database that already has IDs a worker of its own in the namespace that they came from.
func joinAnew(ctx context.Context, d *session.Database, h *Home, version string) error {
	c, err := h.claim(ctx, applicantOf(d, version))
	if err != nil {
		return err
	}
	if err := d.Write(ctx, "joining the namespace", sql.JoinCopy, c.worker, h.Address(), c.id); err != nil {
		return err
	}
	if err := followHome(ctx, d, h); err != nil {
		return err
	}
	return goOnAt(ctx, d, c)
}

// rejoin makes sure that the home's row gives this database its worker. If another database got the worker meanwhile,
// this one gets a new worker. Only with NoOtherDraws may the database have another address.
func rejoin(ctx context.Context, d *session.Database, s Settings, present namespace.Namespace, h *Home) error {
	switch kept := h.row.Functions.Has(present.FunctionWorker); {
	case kept && s.JoinsComplete:
		return homeKnows(present)
	case !kept && !s.JoinsComplete: // a home that was made anew by hand
		return session.Refuse("Let every other database that ever joined join again. Then run this with "+
			"--joins-complete: it gives the function another worker.",
			"%s does not keep worker %d for functions, which database %q has: it is not the home that the database "+
				"joined, and may have forgotten others, too", h.Address(), present.FunctionWorker, present.Database)
	case !kept:
		return joinAnew(ctx, d, h, s.Version)
	}
	claim, given, err := h.reclaim(ctx, applicantOf(d, s.Version), present.FunctionWorker, present.Claim,
		s.Moved, s.NoOtherDraws)
	switch {
	case err != nil:
		return err
	case given:
		return joinAnew(ctx, d, h, s.Version)
	}
	if err := d.Write(ctx, "writing down the claim", sql.TakeClaim, claim); err != nil {
		return err
	}
	return followHome(ctx, d, h)
}

// goOnAt lets the function begin after every ID that its worker may have issued before.
func goOnAt(ctx context.Context, d *session.Database, c claim) error {
	if _, err := d.Conn.Exec(ctx, sql.FormerMark, c.mark); err != nil {
		return session.Failed("setting the mark of the function", err)
	}
	return nil
}

// CompleteJoins records that the home knows every database that has joined.
func CompleteJoins(ctx context.Context, d *session.Database) error {
	switch present, err := namespace.Read(ctx, d.Conn); {
	case err != nil:
		return err
	case present.Home != "":
		return homeKnows(present)
	}
	return d.Write(ctx, "writing down that no join is forgotten", sql.JoinsComplete)
}

// homeKnows refuses --joins-complete in a database that is no home.
func homeKnows(present namespace.Namespace) error {
	return session.Refuse("Give the URL of its home.", "database %q has no worker rows", present.Database)
}
