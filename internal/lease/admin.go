package lease

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/fault"
	"pgflurry/internal/lease/acknowledge"
)

// What operators do to the worker table: list it, retire a worker, reseed it after a restore.

//go:embed list.sql
var listSQL string

//go:embed counts.sql
var countsSQL string

//go:embed retire.sql
var retireSQL string

//go:embed reseed.sql
var reseedSQL string

// Row is the row of one worker, at the moment of the listing.
type Row struct {
	Worker int
	Kind   string // proxy, database or foreign
	// held, released, quarantined, free, never used, retired; function: in use by a database's function; foreign:
	// another generator's
	State                  string
	Node, Address, Version string // of the present or last holder; empty: none, or not known
	Term                   int64
	// ticks, exclusive; nil: the worker of another database's function, whose mark is not known here
	ReservedUntil         *int64
	Left                  *time.Duration // from the database's now to ReservedUntil; negative: it has passed
	Free                  *time.Duration // from now to when any process may take it; not positive: now; nil: never
	AcquiredAt, RenewedAt *time.Time
	ReleasedAt, RetiredAt *time.Time
}

// Listing is the worker table.
type Listing struct {
	Rows             []Row // by worker
	NeverUsed        int   // workers for proxies
	NeverUsedByFuncs int   // workers for functions of databases
	// time until workers are granted again after a failover, restore or reseed; 0: the gate is open
	GateOpens time.Duration
	GateBy    string // who closed the gate last; "": not known
}

// List reads the worker table, also on a standby. If all is true, it includes workers that were never used.
func List(ctx context.Context, conn *pgx.Conn, all bool) (Listing, error) {
	var l Listing
	err := reading(ctx, conn, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, listSQL, all)
		if err != nil {
			return err
		}
		if l.Rows, err = pgx.CollectRows(rows, scanRow); err != nil {
			return err
		}
		var gate int64
		err = tx.QueryRow(ctx, countsSQL).Scan(&l.NeverUsed, &l.NeverUsedByFuncs, &gate, &l.GateBy)
		l.GateOpens = time.Duration(gate) * time.Microsecond
		return err
	})
	if err != nil {
		return Listing{}, fmt.Errorf("listing the workers: %w", err)
	}
	return l, nil
}

// reading runs ask in a read-only transaction. All its queries see one state of the database.
func reading(ctx context.Context, conn *pgx.Conn, ask func(pgx.Tx) error) error {
	oneState := pgx.TxOptions{AccessMode: pgx.ReadOnly, IsoLevel: pgx.RepeatableRead}
	return pgx.BeginTxFunc(ctx, conn, oneState, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, acknowledge.SettingsSQL, "5000", "30000"); err != nil {
			return err
		}
		return ask(tx)
	})
}

func scanRow(row pgx.CollectableRow) (r Row, err error) {
	var left, free *int64
	err = row.Scan(&r.Worker, &r.Kind, &r.State, &r.Node, &r.Address, &r.Version, &r.Term, &r.ReservedUntil,
		&left, &free, &r.AcquiredAt, &r.RenewedAt, &r.ReleasedAt, &r.RetiredAt)
	r.Left, r.Free = microseconds(left), microseconds(free)
	return r, err
}

func microseconds(n *int64) *time.Duration {
	if n == nil {
		return nil
	}
	d := time.Duration(*n) * time.Microsecond
	return &d
}

// Retired is the result of Retire.
type Retired struct {
	Worker  int
	Already bool          // it was retired before
	Held    bool          // a process held it: it may finish its grant, and then takes another worker
	Node    string        // of the holder
	Address string        // of the holder
	Left    time.Duration // time until its mark: it issues no ID after that
}

// RetireError says why a worker was not retired. Nothing was changed.
type RetireError struct {
	Worker          int
	Lowest, Highest int // the range of workers; Worker is outside it
	// "database": it belongs to the function of a database; "foreign": another generator has it; "": there is no
	// such worker; "proxy": it is held
	Kind   string
	Holder Retired
}

func (e *RetireError) Error() string {
	switch e.Kind {
	case "":
		return fmt.Sprintf("there is no worker %d: this database has workers %d to %d", e.Worker, e.Lowest, e.Highest)
	case "database":
		return fmt.Sprintf("worker %d is kept for the function of a database; only workers of proxies can be retired",
			e.Worker)
	case "foreign":
		return fmt.Sprintf("worker %d is foreign: no proxy gets it, because another generator has it", e.Worker)
	default:
		return fmt.Sprintf("worker %d is held by node %q (%s); it is reserved for another %v",
			e.Worker, e.Holder.Node, e.Holder.Address, e.Holder.Left.Round(time.Millisecond))
	}
}

// Retire takes a worker out of use for good; its mark stays. If a process holds the worker, Retire refuses unless held
// is true. The holder then loses it at its next renewal. Any error except *RetireError leaves the outcome unknown; it
// is safe to retire again.
func (p *Postgres) Retire(ctx context.Context, worker int, held bool) (Retired, error) {
	c, err := p.writer.Write(ctx, retireSQL, acknowledge.Number(int64(worker)), acknowledge.Text(fmt.Sprint(held)))
	if err != nil {
		return Retired{}, fmt.Errorf("retiring worker %d: %w", worker, err)
	}
	done, kind, already := c.Bool(), c.Text(), c.Bool()
	r := Retired{Worker: worker, Already: already, Node: c.Text(), Address: c.Text(), Held: c.Bool(), Left: c.Micros()}
	lowest, highest := int(c.Number()), int(c.Number())
	switch {
	case c.Err() != nil:
		return Retired{}, p.unread(fmt.Sprintf("retiring worker %d", worker), c.Err())
	case done || already:
		return r, nil
	case kind == "proxy" && (held || !r.Held): // nothing speaks against it
		return Retired{}, dropped(fmt.Sprintf("retiring worker %d", worker), "pgflurry.worker")
	default:
		return Retired{}, &RetireError{Worker: worker, Lowest: lowest, Highest: highest, Kind: kind, Holder: r}
	}
}

// dropped is the error of a write that PostgreSQL acknowledged, but that did not change all its rows. A trigger that
// returns NULL drops a row without an error.
func dropped(doing, tables string) error {
	return fault.WithHint(fmt.Errorf("%s left rows as they were, although PostgreSQL reported no error", doing),
		fmt.Sprintf("Look for triggers, rules and policies of %s that are not pgflurry's. Then run it again.", tables))
}

// Reseeded is the result of Reseed.
type Reseeded struct {
	Workers int   // workers for proxies
	Raised  int   // workers whose mark was below Mark
	Held    int   // workers whose lease was ended: their holders may finish their grants
	Mark    int64 // ticks: no worker begins before
	Opens   int64 // ticks: no worker is granted before
}

// Reseed makes the worker table safe after a restore, which may have forgotten acquisitions and renewals. It raises the
// mark of every proxy's worker to now + max_window + skew, ends every lease, and closes the gate for the quarantine. An
// error leaves the outcome unknown; it is safe to reseed again.
func (p *Postgres) Reseed(ctx context.Context) (Reseeded, error) {
	c, err := p.writer.Write(ctx, reseedSQL)
	if err != nil {
		return Reseeded{}, fmt.Errorf("reseeding: %w", err)
	}
	done := c.Bool()
	r := Reseeded{
		Workers: int(c.Number()), Raised: int(c.Number()), Held: int(c.Number()), Mark: c.Number(), Opens: c.Number(),
	}
	if c.Err() != nil {
		return Reseeded{}, p.unread("reseeding", c.Err())
	}
	if !done {
		return Reseeded{}, dropped("reseeding", "pgflurry.namespace or pgflurry.worker")
	}
	return r, nil
}
