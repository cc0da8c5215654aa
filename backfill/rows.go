package backfill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/generator"
	"pgflurry/hint"
	"pgflurry/lease"
	"pgflurry/outcome"
	"pgflurry/zone"
)

// A table is the table of a job, and the two statements that name it.
type table struct {
	name         string // with its schema
	path         string // search_path of the role
	number, fill string
}

// look finds the table, checks its columns, and prepares the transaction.
func look(ctx context.Context, tx pgx.Tx, database string, j Job) (table, error) {
	var t table
	var oid *int64
	if err := tx.QueryRow(ctx, sql.Find, j.Table).Scan(&oid, &t.path); err != nil {
		return table{}, fmt.Errorf("looking for table %s: %w", j.Table, err)
	}
	if oid == nil {
		return table{}, wrong("Give the name as in SQL, with its schema if that is not on the search_path.",
			"there is no table %s in database %q", j.Table, database)
	}
	if _, err := tx.Exec(ctx, sql.Settings); err != nil {
		return table{}, fmt.Errorf("preparing the transaction: %w", err)
	}
	var kind, id, at, key string
	err := tx.QueryRow(ctx, sql.Look, *oid, j.ID, j.Time, j.Order, j.Zone).
		Scan(&t.name, &kind, &id, &at, &key, &t.number, &t.fill)
	if err != nil {
		return table{}, fmt.Errorf("looking at table %s: %w", j.Table, err)
	}
	if err := t.suits(kind, id, at, key, j); err != nil {
		return table{}, err
	}
	if j.Zone == "" {
		return t, nil
	}
	return t, zone.Check(ctx, tx.Conn(), "time-zone", j.Zone)
}

// suits checks the types of the columns. kind is pg_class.relkind.
func (t table) suits(kind, id, at, key string, j Job) error {
	if kind != "r" && kind != "p" {
		return wrong("Give a table, or a partitioned one.", "%s is no table", t.name)
	}
	for _, column := range [][2]string{{j.ID, id}, {j.Time, at}, {j.Order, key}} {
		if column[0] != "" && column[1] == "" {
			return wrong("", "table %s has no column %q", t.name, column[0])
		}
	}
	if id != "bigint" {
		return wrong("An ID has 63 bits.", "column %q of %s is %s; expected bigint", j.ID, t.name, id)
	}
	switch at {
	case "timestamp with time zone":
		if j.Zone != "" {
			return wrong("Leave --time-zone out.", "column %q of %s is %s, which needs no zone", j.Time, t.name, at)
		}
	case "timestamp without time zone", "date":
		if j.Zone == "" {
			return wrong("Say which zone its values are of, as --time-zone UTC.",
				"column %q of %s is %s, which says no instant", j.Time, t.name, at)
		}
	default:
		return wrong("", "column %q of %s is %s; expected a timestamp or a date", j.Time, t.name, at)
	}
	return nil
}

// Numbered rows: what they need of a past. All but rows, timeless and moved are ticks.
type numbered struct {
	rows, timeless  int64
	lowest, highest int64 // of the rows
	last            int64 // of the last ID
	moved, late     int64 // rows that are in a later tick than their own, and how much later at most
	now             int64 // by the clock of this database
}

// number locks the rows without an ID, and gives each a place in the order.
func number(ctx context.Context, tx pgx.Tx, layout generator.Layout, t table) (n numbered, err error) {
	if _, err := tx.Exec(ctx, sql.Prepare); err != nil {
		return n, fmt.Errorf("making a temporary table: %w", err)
	}
	if _, err := tx.Exec(ctx, t.number); err != nil {
		return n, fmt.Errorf("numbering the rows of %s: %w", t.name, err)
	}
	err = tx.QueryRow(ctx, sql.Count, layout.SequenceBits).
		Scan(&n.rows, &n.timeless, &n.lowest, &n.highest, &n.last, &n.moved, &n.late, &n.now)
	if err != nil {
		err = fmt.Errorf("counting the rows of %s: %w", t.name, err)
	}
	return n, err
}

// fits refuses rows that no past can hold. until is the tick before which it ends.
func (n numbered) fits(layout generator.Layout, t table, j Job, until int64) error {
	first := layout.FirstTick()
	after, err := layout.Decode(j.AfterID)
	switch {
	case err != nil:
		return wrong("", "--after-id: %w", err)
	case n.timeless > 0:
		return hint.With(fmt.Errorf("%d of %d rows of %s without an ID have no time: %q is NULL or infinite",
			n.timeless, n.rows, t.name, j.Time), "Give each row a time first.")
	case n.lowest < first:
		return hint.With(fmt.Errorf("a row of %s is of %s or earlier, and the first ID of layout %s is of %s",
			t.name, shown(layout, max(n.lowest, 0)), layout.Full(), shown(layout, first)),
			"Such rows can have no ID of this ID space. Give them a later time, or leave them their keys.")
	case n.lowest <= after.Tick:
		return hint.With(fmt.Errorf("a row of %s is of %s, so its ID would not be above %d (--after-id)",
			t.name, shown(layout, n.lowest), j.AfterID),
			"Another generator may have given that ID. Such rows keep their keys.")
	case n.highest >= until:
		return hint.With(fmt.Errorf("a row of %s is of %s or later, which is not over: the clock shows %s",
			t.name, shown(layout, n.highest), shown(layout, until-1)),
			"Correct the row's time, or wait, and run it again. An ID of the future could be another row's by then.")
	case n.last >= until:
		return hint.With(fmt.Errorf("the rows of %s need IDs up to %s, which is not over: "+
			"more rows are of one time than a worker has IDs for", t.name, shown(layout, n.last)),
			fmt.Sprintf("Run it again in %v.", time.Duration(n.last-until+1)*layout.Unit+time.Second))
	}
	return nil
}

// noPast says what an operator can do where no past was given.
func noPast(err error, layout generator.Layout, from int64) error {
	var refused *lease.PastError
	if !errors.As(err, &refused) {
		return err
	}
	oldest := shown(layout, from)
	switch {
	case refused.Known > 0:
		return hint.With(fmt.Errorf("the oldest row is of %s, and the worker rows may lack leases from before %s: "+
			"the server has started, or was failed over or restored, or this ID space was made",
			oldest, shown(layout, refused.Known)),
			"If no write was lost, and no earlier installation with this layout gave IDs then, add --nothing-lost. "+
				"A plain restart loses none, nor does a failover to a synchronous standby. A restore does.")
	case refused.Longest == nil:
		return hint.With(errors.New("no worker is free whose past could be used"),
			"See \"pgflurry workers list\". The role may lease those of its range alone.")
	case *refused.Longest > from:
		return hint.With(fmt.Errorf("the oldest row is of %s, and each free worker was used until %s or later",
			oldest, shown(layout, *refused.Longest)),
			"A worker that was never used reaches back to the first ID. See \"pgflurry workers list --all\".")
	}
	return hint.With(errors.New("no worker could be taken: others are taking the last free ones just now"),
		"Run it again.")
}

func shown(layout generator.Layout, tick int64) string {
	return layout.Time(tick).UTC().Format("2006-01-02T15:04:05.000Z")
}

func wrong(advice, format string, values ...any) error {
	err := outcome.As(outcome.Usage, fmt.Errorf(format, values...))
	if advice == "" {
		return err
	}
	return hint.With(err, advice)
}
