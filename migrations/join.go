package migrations

import (
	"context"
	_ "embed"
	"fmt"

	"pgflurry/namespace"
)

var (
	//go:embed queries/create_joined.sql
	createJoinedSQL string
	//go:embed queries/follow_home.sql
	followHomeSQL string
	//go:embed queries/former_mark.sql
	formerMarkSQL string
	//go:embed queries/join_copy.sql
	joinCopySQL string
	//go:embed queries/joins_complete.sql
	joinsCompleteSQL string
)

// joinNew makes an empty database another one of the namespace.
func (d *database) joinNew(ctx context.Context, s Settings, h *home) error {
	if err := sameSpace(s, h.row); err != nil {
		return fmt.Errorf("--join: %w", err)
	}
	layout, err := s.layout(h.row.Layout)
	if err != nil {
		return err
	}
	if !layout.Equal(h.row.Layout) {
		return contradicts("Leave the layout out: a database that joins takes the layout of its home.",
			"the namespace in %s has layout %s, not %s", address(h.settings), h.row.Layout.Full(), layout.Full())
	}
	c, err := h.claim(ctx, d, s.Version)
	if err != nil {
		return err
	}
	_, err = d.Exec(ctx, createJoinedSQL, layout.TimestampBits, layout.DatacenterBits, layout.WorkerBits,
		layout.SequenceBits, layout.Epoch, layout.Unit.Milliseconds(), h.row.DatabaseWorkers, h.row.ID, c.worker,
		address(h.settings), c.id, h.row.Region)
	if err != nil {
		return failed("making the namespace row", err)
	}
	if err := d.followHome(ctx, h); err != nil {
		return err
	}
	return d.goOnAt(ctx, c)
}

// followHome copies what may have changed in the home since the database joined: its windows, and its name or address.
// An old version may have written a quarantine there that this one does not allow.
func (d *database) followHome(ctx context.Context, h *home) error {
	quarantine := max(h.row.Quarantine, leastQuarantine(h.row.MaxWindow, h.row.Skew, h.row.Layout.Unit))
	return d.write(ctx, "taking over the windows of the namespace", followHomeSQL, h.row.MaxWindow.Microseconds(),
		h.row.Skew.Microseconds(), quarantine.Microseconds(), address(h.settings))
}

// joinAnew gives a database that already has IDs a worker of its own in the namespace that they came from.
func (d *database) joinAnew(ctx context.Context, s Settings, h *home) error {
	c, err := h.claim(ctx, d, s.Version)
	if err != nil {
		return err
	}
	if err := d.write(ctx, "joining the namespace", joinCopySQL, c.worker, address(h.settings), c.id); err != nil {
		return err
	}
	if err := d.followHome(ctx, h); err != nil {
		return err
	}
	return d.goOnAt(ctx, c)
}

// rejoin makes sure that the home's row gives this database its worker. If another database got the worker meanwhile,
// this one gets a new worker.
func (d *database) rejoin(ctx context.Context, s Settings, present namespace.Namespace, h *home) error {
	given, err := h.reclaim(ctx, d, present, s)
	switch {
	case err != nil:
		return err
	case given:
		return d.joinAnew(ctx, s, h)
	}
	return d.followHome(ctx, h)
}

// goOnAt lets the function begin after every ID that its worker may have issued before.
func (d *database) goOnAt(ctx context.Context, c claim) error {
	if _, err := d.Exec(ctx, formerMarkSQL, c.mark); err != nil {
		return failed("setting the mark of the function", err)
	}
	return nil
}

// joinsComplete records that the home knows every database that has joined.
func (d *database) joinsComplete(ctx context.Context) error {
	switch present, err := namespace.Read(ctx, d.Conn); {
	case err != nil:
		return err
	case present.Home != "":
		return refuse("Give the URL of its home.", "database %q has no worker rows", d.facts.database)
	}
	return d.write(ctx, "writing down that no join is forgotten", joinsCompleteSQL)
}
