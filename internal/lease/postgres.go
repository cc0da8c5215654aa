package lease

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/connect"
	"pgflurry/internal/lease/acknowledge"
)

//go:embed acquire.sql
var acquireSQL string

//go:embed renew.sql
var renewSQL string

//go:embed release.sql
var releaseSQL string

// Postgres is the Store over PostgreSQL 15 or newer, also behind a pooler in transaction mode. Each call is one round
// trip on an open connection. After any outcome but a clean acknowledgement the connection is closed and the next call
// opens another. So does a call when the connection is old (package connect).
type Postgres struct{ writer *acknowledge.Writer }

// NewPostgres makes a Store for the database that config names; nothing is opened yet. The user needs
// pgflurry.grant_lease(). If config names several hosts, the Store skips standbys. It copies config and uses its
// DialFunc.
func NewPostgres(config *pgconn.Config, rules connect.Rules) *Postgres {
	return &Postgres{writer: acknowledge.NewWriter(config, rules)}
}

// Acquire implements Store.
func (p *Postgres) Acquire(ctx context.Context, r Request) (Acquired, error) {
	lowest, top := r.Range.ends()
	c, err := p.writer.Write(ctx, acquireSQL, acknowledge.Text(r.Namespace), acknowledge.Text(r.Owner),
		acknowledge.Text(r.Node), acknowledge.Text(r.Address), acknowledge.Text(r.Version),
		acknowledge.Number(r.Window), acknowledge.Number(int64(lowest)), acknowledge.Number(int64(top)),
		acknowledge.Number(r.Longest))
	if err != nil {
		return Acquired{}, fmt.Errorf("acquiring a worker: %w", older(err))
	}
	namespace, home, copied := c.Text(), c.Text(), c.Bool()
	a := Acquired{Lease: Lease{Namespace: r.Namespace, Owner: r.Owner}, Ungated: c.Bool()}
	granted := !c.Null()
	a.Worker, a.Term = int(c.Number()), c.Number()
	a.Grant = Grant{Worker: a.Worker, From: c.Number(), Until: c.Number()}
	a.DatabaseMicros = c.Number()
	gate := Refusal{Reason: GateClosed, Until: c.Number(), Wait: c.Micros()}
	none := Refusal{
		Reason: NoWorker, Workers: int(c.Number()), Retired: int(c.Number()), Until: c.Number(),
		Wait: max(0, c.Micros()), Range: r.Range,
	}
	closed := c.Bool()
	a.Place = c.Text()
	if c.Bool() {
		gate.Reason = Starting
	}
	gate.By = c.Text()
	a.Rest = c.Micros()
	none.By = c.Text()
	switch {
	case c.Err() != nil:
		return Acquired{}, p.unread("acquiring a worker", c.Err())
	case namespace != r.Namespace:
		return Acquired{}, mismatch(r.Namespace, namespace)
	case home != "":
		return Acquired{}, elsewhere(namespace, home)
	case copied:
		return Acquired{}, &Refusal{Reason: Copy}
	case closed:
		return Acquired{}, &Refusal{Reason: Closed}
	case granted:
		return a, nil
	case gate.Until > 0:
		return Acquired{}, &gate
	default:
		return Acquired{}, &none
	}
}

// Renew implements Store.
func (p *Postgres) Renew(ctx context.Context, r Renewal) (Renewed, error) {
	c, asked, err := p.writer.WriteOrLate(ctx, r, renewSQL,
		acknowledge.Text(r.Namespace), acknowledge.Number(int64(r.Worker)),
		acknowledge.Text(r.Owner), acknowledge.Number(r.Term), acknowledge.Number(r.Acknowledged),
		acknowledge.Number(r.Wanted), acknowledge.Number(r.Window))
	if err != nil {
		return Renewed{}, fmt.Errorf("renewing worker %d: %w", r.Worker, older(err))
	}
	var late *Renewal
	if before := asked.(Renewal); before.Sent != r.Sent {
		r, late = before, &before
	}
	namespace, home, copied := c.Text(), c.Text(), c.Bool()
	renewed := !c.Null()
	answer := Renewed{Late: late, Until: c.Number(), DatabaseMicros: c.Number()}
	lost := Lost{
		Worker: r.Worker, Acknowledged: r.Acknowledged, Mark: c.Number(), Taken: c.Bool(), Node: c.Text(),
		Retired: c.Bool(), Expired: c.Bool(),
	}
	closed := c.Bool()
	answer.Place = c.Text()
	lost.Place, lost.Forgot = answer.Place, c.Bool()
	switch {
	case c.Err() != nil:
		return Renewed{}, p.unread(fmt.Sprintf("renewing worker %d", r.Worker), c.Err())
	case namespace != r.Namespace:
		return Renewed{}, mismatch(r.Namespace, namespace)
	case home != "":
		return Renewed{}, elsewhere(namespace, home)
	case copied:
		return Renewed{}, &Refusal{Reason: Copy}
	case closed:
		return Renewed{}, &Refusal{Reason: Closed}
	case renewed:
		return answer, nil
	default:
		return Renewed{}, &lost
	}
}

// Release implements Store.
func (p *Postgres) Release(ctx context.Context, l Lease, acknowledged int64) error {
	c, err := p.writer.Write(ctx, releaseSQL, acknowledge.Text(l.Namespace), acknowledge.Number(int64(l.Worker)),
		acknowledge.Text(l.Owner), acknowledge.Number(l.Term), acknowledge.Number(acknowledged))
	if err != nil {
		return fmt.Errorf("releasing worker %d: %w", l.Worker, err)
	}
	if namespace := c.Text(); namespace != l.Namespace {
		return mismatch(l.Namespace, namespace)
	}
	c.Number() // the worker, if the lease was still there
	if c.Bool() {
		return &Lost{Worker: l.Worker, Forgot: true, Acknowledged: acknowledged}
	}
	return nil
}

// Close implements Store.
func (p *Postgres) Close() { p.writer.Close() }

// older says what to do if the schema lacks what this program's statements need.
func older(err error) error {
	var said *pgconn.PgError
	if errors.As(err, &said) && (said.Code == "42883" || said.Code == "42703") { // undefined function, column
		return fmt.Errorf(`%w; schema pgflurry is older than this program: run "pgflurry migrate up" as its owner`,
			err)
	}
	return err
}

// unread is the error for an acknowledged row that does not have the expected form. The outcome is then unknown.
func (p *Postgres) unread(doing string, cause error) error {
	p.Close()
	return fmt.Errorf("%s: reading the answer: %w", doing, cause)
}

func mismatch(want, found string) error {
	return fmt.Errorf("%w: expected namespace %s, found %s; check the lease database's URL",
		ErrNamespaceMismatch, want, found)
}

func elsewhere(namespace, home string) error {
	return fmt.Errorf("%w: the worker rows of namespace %s are in %q; give the lease database's URL as that one",
		ErrElsewhere, namespace, home)
}
