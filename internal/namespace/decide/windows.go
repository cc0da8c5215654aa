package decide

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/namespace"
	"pgflurry/internal/session"
)

const (
	// usualQuarantine is the quarantine of a new namespace, long enough for windows of nearly two minutes.
	usualQuarantine = 120 * time.Second
	// patienceForStandbys is how long setWindows waits for standbys that are behind.
	patienceForStandbys = 20 * time.Second
)

// QuarantineFor returns the quarantine for a max_window. It is never shorter than that of a new namespace.
func QuarantineFor(maxWindow, skew, unit time.Duration) time.Duration {
	return max(usualQuarantine, leastQuarantine(maxWindow, skew, unit))
}

// leastQuarantine returns a quarantine that outlives each grant after a failover between servers whose clocks differ by
// the skew. Leases count in ticks, and round up each of the three lengths. So the sum is one of whole ticks.
func leastQuarantine(maxWindow, skew, unit time.Duration) time.Duration {
	whole := func(d time.Duration) time.Duration { return (d + unit - 1) / unit * unit }
	return whole(maxWindow) + 2*whole(skew)
}

// SetWindows changes max_window of the namespace, and the quarantine with it. v is what the run has done before.
//
// An interruption is harmless at each step, and so is a failover to any standby. At every moment, on every standby, the
// quarantine must outlive the windows that are allowed, and those that were. So the quarantine rises before the window.
// It falls after the window, when the last grant of the old window has ended. docs/uniqueness.md has the argument.
func SetWindows(ctx context.Context, d *session.Database, want time.Duration, v Verdict) error {
	present, err := namespace.Read(ctx, d.Conn)
	if err != nil {
		return err
	}
	if present.Home != "" {
		return session.Contradicts("Run it on that database.",
			"--max-window is the namespace's, and the namespace of database %q is at home in %s",
			present.Database, present.Home)
	}
	quarantine := QuarantineFor(want, present.Skew, present.Layout.Unit)
	raised := v.Raised || present.Quarantine < quarantine
	if present.Quarantine < quarantine {
		if err := setQuarantine(ctx, d, quarantine, func() (bool, error) { return true, nil }); err != nil {
			return err
		}
	}
	if present.MaxWindow < want {
		if err := standbysHave(ctx, d, raised && !v.Founded, fmt.Sprintf(
			"max_window stays %v for now; the quarantine is %v", present.MaxWindow, max(quarantine, present.Quarantine),
		)); err != nil {
			return err
		}
	}
	if present.MaxWindow != want {
		err := d.Acknowledged(func() error {
			return d.Write(ctx, "writing max_window", sql.MaxWindow, want.Microseconds())
		})
		if err != nil {
			return err
		}
	}
	if present.Quarantine <= quarantine {
		return nil
	}
	stays := fmt.Sprintf("max_window is %v; the quarantine stays %v for now", want, present.Quarantine)
	if err := standbysHave(ctx, d, false, stays); err != nil {
		return err
	}
	return setQuarantine(ctx, d, quarantine, func() (bool, error) {
		var long bool
		err := d.Conn.QueryRow(ctx, sql.LongGrants).Scan(&long)
		return !long, err
	})
}

// setQuarantine changes the quarantine if may, called with the workers locked, returns true.
func setQuarantine(ctx context.Context, d *session.Database, quarantine time.Duration, may func() (bool, error)) error {
	const doing = "changing the quarantine"
	return d.Acknowledged(func() error {
		return d.InTransaction(ctx, doing, func() error {
			if err := d.Script(ctx, "locking the workers", sql.LockWorkers); err != nil {
				return busy(err)
			}
			switch ok, err := may(); {
			case err != nil:
				return session.Failed("looking for long grants", err)
			case !ok:
				return nil
			}
			return d.Write(ctx, doing, sql.Quarantine, quarantine.Microseconds())
		})
	})
}

// busy adds what to do if another transaction kept the lock of the workers.
func busy(err error) error {
	if session.NotAvailable(err) {
		return session.Refuse("Wait until it has ended, and run the same again. pg_locks shows who it is. "+
			"A commit that waits for a hung synchronous standby holds it too.",
			"the windows stay as they are: another transaction holds pgflurry.worker")
	}
	return err
}

// standbysHave waits until every standby has written the WAL of this session. unsure: this session's writes matter for
// it, so a standby that this role may not look at counts as one that is behind. stays says what is not done.
func standbysHave(ctx context.Context, d *session.Database, unsure bool, stays string) error {
	var written string
	if err := d.Conn.QueryRow(ctx, sql.Written).Scan(&written); err != nil {
		if err = session.Failed("asking how far the log is written", err); !errors.As(err,
			new(*session.ServerError)) || unsure {
			return err
		}
		return nil // a server without WAL positions
	}
	d.Doing("waiting for the standbys")
	for end := time.Now().Add(patienceForStandbys); ; time.Sleep(50 * time.Millisecond) {
		behind, may, hidden, err := readBehind(ctx, d.Conn, written)
		switch {
		case err != nil:
			return err
		case hidden && unsure:
			return session.Refuse(`Wait until each standby answers "SELECT quarantine FROM pgflurry.namespace" `+
				`with that, and run the same again. A member of pg_monitor sees it by itself.`,
				"%s: role %q may not see how far the standbys are, and one of them that is promoted without the "+
					"quarantine could give IDs twice", stays, d.Facts.Role)
		case len(behind) == 0:
			return nil
		case !may, time.Now().After(end):
			return session.Refuse("Let them catch up, and run the same again. "+
				"Drop the slot of a standby that is gone for good: SELECT pg_drop_replication_slot('NAME').",
				"%s: these standbys have not written it, and one that is promoted without it could give IDs twice: %s",
				stays, strings.Join(behind, ", "))
		}
	}
}

// readBehind lists the standbys that have not written the WAL so far. may: one of them is connected and may catch up.
// hidden: this role cannot see some of them.
func readBehind(ctx context.Context, conn *pgx.Conn, written string) (names []string, may, hidden bool, err error) {
	rows, err := conn.Query(ctx, sql.Behind, written)
	if err == nil {
		var name *string
		var connected bool
		_, err = pgx.ForEachRow(rows, []any{&name, &connected}, func() error {
			if name == nil {
				hidden = true
				return nil
			}
			names, may = append(names, *name), may || connected
			return nil
		})
	}
	if err != nil {
		return nil, false, false, session.Failed("looking for the standbys", err)
	}
	return names, may, hidden, nil
}
