package node

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/connstring"
	"pgflurry/fault"
	"pgflurry/fresh"
	"pgflurry/hint"
	"pgflurry/lease"
	"pgflurry/logs"
	"pgflurry/namespace"
	"pgflurry/outcome"
)

const (
	// retryFirst and retryMost bound the pause between readings of the namespace that fail.
	retryFirst = 500 * time.Millisecond
	retryMost  = 10 * time.Second
)

// findNamespace reads the namespace of the lease database. It waits while a fault may still pass: a server that is
// down, a missing migration, a copy that nobody has classified yet.
func (u *supply) findNamespace(ctx context.Context) (namespace.Namespace, error) {
	failing := logs.Reminder{Every: logs.RemindEvery}
	for pause := retryFirst; ; pause = min(2*pause, retryMost) {
		var ns namespace.Namespace
		err := fresh.AskOnce(ctx, u.lease, "", askTimeout, func(ctx context.Context, conn *pgx.Conn) (err error) {
			ns, err = namespace.Read(ctx, conn)
			return err
		})
		copied := false
		if err == nil {
			var why string
			if why, copied = ns.Copied(); copied {
				err = fmt.Errorf(`%s: run "pgflurry migrate up --database URL" on it, which says how to go on`, why)
			}
		}
		switch {
		case ctx.Err() != nil:
			return ns, nil
		case err == nil:
			return ns, u.agrees(ns)
		}
		u.unread.Store(unreadFor(err, copied))
		if due, lasted := failing.Wrong(err.Error(), u.clock.monotonic()); due {
			fields := append([]any{"cause", connstring.Explain(err)}, logs.Fields(lasted)...)
			u.log.Warn(fault.Of(fault.NoNamespace).Log,
				append(fields, hint.Fields(hint.Of(connstring.Explain(err)))...)...)
		}
		fresh.Rest(ctx, pause, nil)
	}
}

// agrees refuses settings that the namespace does not allow.
func (u *supply) agrees(ns namespace.Namespace) error {
	if err := ns.Serves(); err != nil {
		return err
	}
	if ns.Disposable {
		u.log.Warn("the ID space is disposable, FOR TESTS ONLY: copies of this database give the same IDs",
			"database", ns.Database)
	}
	if u.settings.Window > ns.MaxWindow {
		return outcome.As(outcome.Usage, hint.With(
			fmt.Errorf("--window is %v, but the namespace's max_window is %v; choose at most that",
				u.settings.Window, ns.MaxWindow),
			fmt.Sprintf("Or raise it: pgflurry migrate up --database URL --max-window %v, whose help says "+
				"what that costs. If it was raised before, a failover or a restore has forgotten that: do so at once.",
				u.settings.Window)))
	}
	if end := ns.Layout.End(); end.Sub(u.clock.wall()) < namespace.LayoutWarning {
		u.log.Warn("the timestamps of the layout end soon: plan a namespace with another layout",
			"layout", ns.Layout, "end", end)
	}
	return nil
}

// workers is the range of workers that --datacenter allows.
func (u *supply) workers(ns namespace.Namespace) (lease.Range, error) {
	number := u.settings.Datacenter
	if number == nil {
		return lease.Range{}, nil
	}
	lowest, highest, err := ns.Layout.WorkersOf(*number)
	functions := ns.Functions()
	switch {
	case ns.Region != nil && *ns.Region == *number:
		return lease.Range{}, nil // the rows of a region are its only ones
	case ns.Region != nil:
		return lease.Range{}, hint.With(fmt.Errorf("--datacenter is %d, but database %q is region %d of its ID space: "+
			"it leases workers %v alone", *number, ns.Database, *ns.Region, ns.Workers()),
			"Leave --datacenter out, or give a --lease-database of that region.")
	case err != nil && ns.Layout.DatacenterBits > 0:
		return lease.Range{}, hint.With(fmt.Errorf("--%w", err), "Choose one of these; a layout cannot change later.")
	case err != nil:
		return lease.Range{}, hint.With(fmt.Errorf("--%w", err),
			"A layout with datacenters is chosen when the namespace is made: pgflurry migrate up --layout datacenter. "+
				"It cannot change later.")
	case highest <= functions.Highest:
		return lease.Range{}, hint.With(fmt.Errorf("--datacenter %d has workers %d to %d, but workers %v are for "+
			"functions of databases", *number, lowest, highest, functions),
			"Choose a higher datacenter.")
	}
	return lease.Range{Lowest: lowest, Highest: highest}, nil
}
