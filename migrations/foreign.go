package migrations

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/generator"
	"pgflurry/namespace"
)

// foreignWorkers returns the foreign workers of a new namespace, and refuses those that it does not have.
func (s Settings) foreignWorkers(layout generator.Layout, region *int) (namespace.Ranges, error) {
	if s.Foreign == nil {
		return nil, nil
	}
	all := namespace.WorkersOf(layout, region)
	if beyond := s.Foreign.Without(namespace.Ranges{all}); len(beyond) > 0 {
		return nil, contradicts("Name workers of this database alone: no other database gives these away. "+
			"A region of an ID space has the workers of its datacenter.",
			"--foreign-workers has workers %v, but this database has workers %v", beyond, all)
	}
	return *s.Foreign, nil
}

// setForeign makes the wanted workers foreign, and all others pgflurry's again.
//
// Both ways a worker changes hands only when no ID that the former user gave can come after it. A worker that becomes
// foreign is not held, and rests no more. A worker that comes back begins above the highest ID of the other generator.
// The namespace row and the worker rows change in one transaction, in which nobody else writes a worker row.
func setForeign(ctx context.Context, d *database, s Settings) error {
	present, err := namespace.Read(ctx, d.conn)
	if err != nil {
		return err
	}
	if present.Home != "" {
		return contradicts("Run it on that database.",
			"--foreign-workers is the namespace's, and the namespace of database %q is at home in %s",
			present.Database, present.Home)
	}
	wanted, err := s.foreignWorkers(present.Layout, present.Region)
	if err != nil {
		return err
	}
	more, fewer := wanted.Without(present.Foreign), present.Foreign.Without(wanted)
	if len(more) > 0 {
		if err := gateIsOpen(ctx, d, present); err != nil {
			return err
		}
		if err := noneForgotten(ctx, d, more.Without(present.Proxies())); err != nil {
			return err
		}
	}
	var begins int64
	if len(fewer) > 0 {
		if begins, err = beginsAbove(ctx, d, s.AfterID, present, fewer); err != nil {
			return err
		}
	}
	known := func(unsure bool) error {
		return standbysHave(ctx, d, unsure, fmt.Sprintf("workers %v are foreign here", wanted))
	}
	if len(more) == 0 && len(fewer) == 0 {
		return known(false) // an earlier run may have ended before they had it
	}
	err = d.acknowledged(func() error {
		return d.inTransaction(ctx, "changing the foreign workers", func() error {
			return exchange(ctx, d, present, wanted, more, begins, s.say)
		})
	})
	if err != nil || len(more) == 0 {
		return err
	}
	return known(true)
}

// gateIsOpen refuses while the rows may lack grants that a failover, a restore or a start of the server has forgotten.
func gateIsOpen(ctx context.Context, d *database, present namespace.Namespace) error {
	if _, err := d.conn.Exec(ctx, sql.CloseGate); err != nil { // unless a lease has already noticed the failover
		return failed("looking for a failover", err)
	}
	gate, err := readGate(ctx, d.conn, present)
	if err != nil {
		return err
	}
	now, err := clock(ctx, d.conn)
	if err != nil {
		return err
	}
	_, settles, err := readRestart(ctx, d.conn, now)
	if err != nil {
		return err
	}
	if left := max(gate.Left, settles); left > 0 {
		return refuse(fmt.Sprintf("Run the same again in %v.", left.Truncate(time.Second)+time.Second),
			"the foreign workers stay as they were: the server has started, or was failed over or restored, "+
				"and a proxy may hold a worker that the rows do not show")
	}
	return nil
}

// noneForgotten refuses if one of these workers, which are for functions, may be that of a database that this home has
// forgotten.
func noneForgotten(ctx context.Context, d *database, workers namespace.Ranges) error {
	if len(workers) == 0 {
		return nil
	}
	closed, err := joinsClosed(ctx, d.conn)
	if err != nil || !closed {
		return err
	}
	return refuse("Let every database that ever joined join again, and run this again with --joins-complete.",
		"the foreign workers stay as they were: the server was failed over, restarted or restored, "+
			"and may have forgotten a database that has one of the workers %v", workers)
}

// beginsAbove returns the first tick after the highest ID of the other generator, whose workers come back.
func beginsAbove(
	ctx context.Context, d *database, afterID *int64, present namespace.Namespace, fewer namespace.Ranges,
) (int64, error) {
	if afterID == nil {
		return 0, contradicts("Stop that generator for good. Then add --after-id with the highest ID that it "+
			"gave, or --after-table with the column that has it.",
			"workers %v are foreign, and proxies would lease them", fewer)
	}
	tick, err := tickAfter(present.Layout, *afterID)
	if err != nil {
		return 0, err
	}
	now, err := clock(ctx, d.conn)
	if err != nil {
		return 0, err
	}
	if begins := present.Layout.Time(tick); begins.After(now.Add(24 * time.Hour)) {
		return 0, contradicts("Give an ID of this layout. It needs not be one of the workers that come back.",
			"ID %d is of %s: no proxy would get the workers %v for more than a day",
			*afterID, begins.Format(time.RFC3339), fewer)
	}
	return tick, nil
}

// exchange changes the rows. more are the workers that become foreign, begins the mark of those that come back.
func exchange(
	ctx context.Context, d *database, present namespace.Namespace, wanted, more namespace.Ranges, begins int64,
	say func(string),
) error {
	if err := d.script(ctx, "locking the workers", sql.LockWorkers); err != nil {
		if notAvailable(err) {
			return refuse("Wait until it has ended, and run the same again. pg_locks shows who it is.",
				"the foreign workers stay as they were: another transaction holds pgflurry.worker")
		}
		return err
	}
	in, err := list(ctx, d.conn, "looking for workers in use", sql.InUse, scanUse, more.Multirange())
	if err != nil {
		return err
	}
	if len(in) > 0 {
		return refuse("Stop those proxies, and run the same again when the workers are free: "+
			"\"pgflurry workers list\" says when. A function keeps its worker for good: give the other generator "+
			"another number. If no ID was drawn yet, run \"pgflurry migrate down\" first, and then this.",
			"the foreign workers stay as they were, because these are in use:\n  %s", strings.Join(lines(in), "\n  "))
	}
	// Those of them that wait for a database are replaced, so that as many databases as before can join.
	var replaced int
	if err := d.conn.QueryRow(ctx, sql.SetForeign, wanted.Multirange()).Scan(&replaced); err != nil {
		return failed("writing down the foreign workers", err)
	}
	if replaced != present.DatabaseWorkers {
		return contradicts("Name fewer workers.",
			"--foreign-workers leaves %d workers for the functions of databases; this namespace needs %d",
			replaced, present.DatabaseWorkers)
	}
	if _, err := d.conn.Exec(ctx, sql.Kinds, begins); err != nil {
		return failed("writing the kinds of the workers", err)
	}
	now, err := namespace.Read(ctx, d.conn)
	switch {
	case err != nil:
		return err
	case now.Foreign.String() != wanted.String():
		return dropped(d, "writing down the foreign workers")
	case len(now.Proxies()) == 0:
		return contradicts("Name fewer workers.", "--foreign-workers leaves no worker for a proxy")
	}
	var wrong int
	var used string
	if err := d.conn.QueryRow(ctx, sql.Exchanged, more.Multirange()).Scan(&wrong, &used); err != nil {
		return failed("looking at the workers", err)
	}
	if wrong > 0 {
		return dropped(d, "writing the kinds of the workers")
	}
	if used != "" {
		say("warning: IDs of these workers exist that pgflurry gave: " + used +
			". The other generator must not have given any with them before.")
	}
	return nil
}

// A use is one worker that cannot become foreign now.
type use struct {
	worker   int
	function bool // it is in the function of a database, for good
	node     string
	left     time.Duration // until it is free
}

func scanUse(row pgx.CollectableRow) (u use, err error) {
	var ms int64
	err = row.Scan(&u.worker, &u.function, &u.node, &ms)
	u.left = (time.Duration(ms)*time.Millisecond + time.Second - 1).Truncate(time.Second)
	return u, err
}

// lines names each use, up to mostLines.
func lines(in []use) (all []string) {
	for i, u := range in {
		switch {
		case i == mostLines:
			return append(all, fmt.Sprintf("and %d more", len(in)-i))
		case u.function:
			all = append(all, fmt.Sprintf("worker %d is in the function of database %s", u.worker, u.node))
		case u.node == "":
			all = append(all, fmt.Sprintf("worker %d is free in %v", u.worker, u.left))
		default:
			all = append(all, fmt.Sprintf("worker %d (%s) is free in %v at the earliest", u.worker, u.node, u.left))
		}
	}
	return all
}
