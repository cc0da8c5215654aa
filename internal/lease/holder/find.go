package holder

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/internal/lease"
	"pgflurry/internal/logs"
	"pgflurry/internal/namespace"
)

const (
	// retryFirst and retryMost bound the pause between readings of the namespace that fail.
	retryFirst = 500 * time.Millisecond
	retryMost  = 10 * time.Second
)

// A CopyError says that the lease database is a copy, or was restored, and that nobody has said yet what it shall be.
type CopyError struct{ Why string }

func (e *CopyError) Error() string {
	return e.Why + `: run "pgflurry migrate up --database URL" on it, which says how to go on`
}

// Find reads the namespace of the lease database. It waits while a fault may still pass: a server that is down, a
// missing migration, a copy that nobody has classified yet. failed gets each such fault, and ends the wait if it
// returns an error. If ctx ends, Find returns its error. Any other error says that the namespace does not allow the
// settings.
func (s Settings) Find(ctx context.Context, failed func(error) error) (namespace.Namespace, error) {
	failing := logs.Reminder{Every: logs.RemindEvery}
	for pause := retryFirst; ; pause = min(2*pause, retryMost) {
		ns, err := s.read(ctx)
		switch {
		case ctx.Err() != nil:
			return ns, ctx.Err()
		case err == nil:
			return ns, s.agrees(ns)
		}
		if final := failed(err); final != nil {
			return ns, final
		}
		if due, lasted := failing.Wrong(err.Error(), s.Rules.Now()); due {
			cause := connect.Explain(err)
			fields := append([]any{"calls", s.Without, "cause", cause}, logs.Fields(lasted)...)
			s.Log.Warn(fault.Of(fault.NoNamespace).Log, append(fields, fault.HintField(fault.HintOf(cause))...)...)
		}
		connect.Sleep(ctx, pause, nil)
	}
}

func (s Settings) read(ctx context.Context) (ns namespace.Namespace, err error) {
	err = connect.AskOnce(ctx, s.Lease, "", askTimeout, func(ctx context.Context, conn *pgx.Conn) (err error) {
		if ns, err = namespace.Read(ctx, conn); err != nil {
			return err
		}
		_ = ns.Noted(ctx, conn) // by the next look, if not now
		if ns.NewServer != "" {
			s.warnOfServer(ctx, conn, ns)
		}
		return nil
	})
	if why, copied := ns.Copied(); err == nil && copied {
		err = &CopyError{Why: why}
	}
	return ns, err
}

// warnOfServer logs that the server of the lease database is not known, and which proxies of an original answer.
func (s Settings) warnOfServer(ctx context.Context, conn *pgx.Conn, ns namespace.Namespace) {
	if ns.RefusesNew { // Find waits, and says so
		return
	}
	fields := []any{"database", ns.Database, "cause", ns.NewServer}
	if proxies, err := namespace.Elsewhere(ctx, conn, s.Address); err == nil && len(proxies) > 0 {
		fields = append(fields, "answers_elsewhere", strings.Join(proxies, "; "))
	}
	s.Log.Warn(fault.NewServer.Log, append(fields, fault.HintField(fault.NewServer.Hint)...)...)
}

// agrees refuses settings that the namespace does not allow.
func (s Settings) agrees(ns namespace.Namespace) error {
	if err := ns.Serves(); err != nil {
		return err
	}
	if ns.Disposable {
		s.Log.Warn("the ID space is disposable, FOR TESTS ONLY: copies of this database give the same IDs",
			"database", ns.Database)
	}
	if s.Window > ns.MaxWindow {
		return fault.WithKind(fault.Usage, fault.WithHint(
			fmt.Errorf("%swindow is %v, but the namespace's max_window is %v; choose at most that",
				s.Flag, s.Window, ns.MaxWindow),
			fmt.Sprintf("Or raise it: pgflurry namespace set --database URL --max-window %v, whose help says "+
				"what that costs. If it was raised before, a failover or a restore has forgotten that: do so at once.",
				s.Window)))
	}
	if end := ns.Layout.End(); end.Sub(s.Wall()) < namespace.LayoutWarning {
		s.Log.Warn("the timestamps of the layout end soon: plan a namespace with another layout",
			"layout", ns.Layout, "end", end)
	}
	return nil
}

// workers is the range of workers that the datacenter allows.
func (s Settings) workers(ns namespace.Namespace) (lease.Range, error) {
	number := s.Datacenter
	if number == nil {
		return lease.Range{}, nil
	}
	lowest, highest, err := ns.Layout.WorkersOf(*number)
	switch {
	case ns.Region != nil && *ns.Region == *number:
		return lease.Range{}, nil // the rows of a region are its only ones
	case ns.Region != nil:
		return lease.Range{}, fault.WithHint(
			fmt.Errorf("%sdatacenter is %d, but database %q is region %d of its ID space: it leases workers %v alone",
				s.Flag, *number, ns.Database, *ns.Region, ns.Workers()),
			fmt.Sprintf("Leave %sdatacenter out, or give a lease database of that region.", s.Flag))
	case err != nil && ns.Layout.DatacenterBits > 0:
		return lease.Range{}, fault.WithHint(fmt.Errorf("%s%w", s.Flag, err),
			"Choose one of these; a layout cannot change later.")
	case err != nil:
		return lease.Range{}, fault.WithHint(fmt.Errorf("%s%w", s.Flag, err),
			"A layout with datacenters is chosen when the namespace is made: pgflurry migrate up --layout datacenter. "+
				"It cannot change later.")
	case len(ns.Proxies().In(namespace.Range{Lowest: lowest, Highest: highest})) == 0:
		return lease.Range{}, fault.WithHint(fmt.Errorf("%sdatacenter %d has workers %d to %d, but workers %v are for "+
			"functions of databases, and foreign are: %v",
			s.Flag, *number, lowest, highest, ns.Functions, ns.Foreign),
			"Choose a higher datacenter.")
	}
	return lease.Range{Lowest: lowest, Highest: highest}, nil
}
