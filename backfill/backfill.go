package backfill

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/generator"
	"pgflurry/hint"
	"pgflurry/lease"
	"pgflurry/namespace"
)

// A Job says which rows get IDs: those of a table whose column of the ID is NULL.
type Job struct {
	Table string // as SQL names it; partitions and children belong to it
	ID    string // the column to fill, a bigint
	Time  string // the column that says when a row was made
	Order string // the column that decides between rows of one time; empty: their order is any
	Zone  string // the time zone of Time; only for a timestamp without one, or a date
	// AfterID refuses rows whose IDs would not be above this one, which another generator of the layout has given. 0:
	// there is none
	AfterID int64
	// NothingLost: the operator vouches that the worker rows know all IDs. No write was lost, and no ID of another ID
	// space with this layout is of the time of the rows.
	NothingLost bool
	Version     string // of this program, for people
}

// A Done is what a run has written. Rows without an ID were not there: then Rows is 0, and the rest, too.
type Done struct {
	Table       string // with its schema
	Rows        int64
	Worker      int
	First, Last time.Time     // the times in the first and in the last ID
	Moved       int64         // rows whose ID is of a later tick than their own, because that was full
	Latest      time.Duration // how much later at most
}

// A pasts gives the past of a worker. *lease.Postgres is one.
type pasts interface {
	AcquirePast(context.Context, lease.PastRequest) (lease.Grant, error)
}

// Run fills the rows of a job in the database of conn, which belongs to ns, in one transaction. home gives the past of
// a worker. After an error nothing was changed in the table, except that a lost connection at the end leaves it open.
func Run(ctx context.Context, conn *pgx.Conn, ns namespace.Namespace, home pasts, j Job) (Done, error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
	if err != nil {
		return Done{}, fmt.Errorf("beginning the backfill: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	t, err := look(ctx, tx, ns.Database, j)
	if err != nil {
		return Done{}, err
	}
	n, err := number(ctx, tx, ns.Layout, t)
	if err != nil || n.rows == 0 {
		return Done{Table: t.name}, err
	}
	if err := n.fits(ns.Layout, t, j, n.now+1); err != nil {
		return Done{}, err
	}
	past, err := acquire(ctx, home, lease.PastRequest{
		Namespace: ns.ID, For: shortened(fmt.Sprintf("backfill of %s.%s", t.name, j.ID)), Version: j.Version,
		Address: shortened("database " + ns.Database), From: n.lowest, NothingLost: j.NothingLost,
	})
	if err != nil {
		return Done{}, noPast(err, ns.Layout, n.lowest)
	}
	if err := n.fits(ns.Layout, t, j, past.Until); err != nil { // the home's clock may be behind this database's
		return Done{}, err
	}
	if err := fill(ctx, tx, ns.Layout, t, past.Worker, n.rows); err != nil {
		return Done{}, err
	}
	if err := tx.Commit(ctx); err != nil {
		return Done{}, hint.With(fmt.Errorf("committing the IDs of %s: %w", t.name, err),
			"If the connection was lost, the rows may have their IDs all the same. Run it again: "+
				"it gives IDs to the rows that have none.")
	}
	return Done{
		Table: t.name, Rows: n.rows, Worker: past.Worker, Moved: n.moved,
		First: ns.Layout.Time(n.lowest), Last: ns.Layout.Time(n.last), Latest: time.Duration(n.late) * ns.Layout.Unit,
	}, nil
}

// patience limits the wait for the past. Meanwhile the rows are locked.
const patience = 30 * time.Second

func acquire(ctx context.Context, home pasts, r lease.PastRequest) (lease.Grant, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return home.AcquirePast(ctx, r)
}

// fill writes the IDs of the numbered rows.
func fill(ctx context.Context, tx pgx.Tx, layout generator.Layout, t table, worker int, rows int64) error {
	if _, err := tx.Exec(ctx, sql.Path, t.path); err != nil {
		return fmt.Errorf("setting search_path: %w", err)
	}
	tag, err := tx.Exec(ctx, t.fill, layout.SequenceBits, layout.DatacenterBits+layout.WorkerBits, worker)
	switch {
	case err != nil:
		return fmt.Errorf("writing the IDs of %s: %w", t.name, err)
	case tag.RowsAffected() != rows:
		return hint.With(fmt.Errorf("%d of %d rows of %s took their ID; nothing was changed",
			tag.RowsAffected(), rows, t.name), "Look for triggers and rules of the table that leave rows out.")
	}
	return nil
}

// shortened is a text as long as a worker row takes one.
func shortened(text string) string {
	const most = 255
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}
	return text
}
