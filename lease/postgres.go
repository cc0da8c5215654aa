package lease

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

//go:embed begin.sql
var beginSQL string

//go:embed settings.sql
var settingsSQL string

//go:embed acquire.sql
var acquireSQL string

//go:embed renew.sql
var renewSQL string

//go:embed release.sql
var releaseSQL string

//go:embed commit.sql
var commitSQL string

// lockNotAvailable is the SQLSTATE of a lock_timeout.
const lockNotAvailable = "55P03"

// Postgres is the Store over PostgreSQL 15 or newer, also behind a pooler in transaction mode: it keeps one connection, uses unnamed
// statements only, and leaves nothing in the session. Each call is one round trip on an open connection. After any
// outcome but a clean acknowledgement the connection is closed and the next call opens another.
type Postgres struct {
	config *pgconn.Config
	wire   *wire // nil: none is open
}

// NewPostgres makes a Store for the database config names; nothing is opened yet. The user needs SELECT and UPDATE on pgflurry.namespace and
// pgflurry.worker. Where several hosts are named, a standby is passed over. config is copied; its DialFunc is used.
func NewPostgres(config *pgconn.Config) *Postgres {
	own := config.Copy()
	if own.ValidateConnect == nil && severalHosts(own) {
		own.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary
	}
	return &Postgres{config: own}
}

func severalHosts(c *pgconn.Config) bool {
	for _, f := range c.Fallbacks {
		if f.Host != c.Host || f.Port != c.Port {
			return true
		}
	}
	return false
}

// Acquire implements Store.
func (p *Postgres) Acquire(ctx context.Context, r Request) (Acquired, error) {
	row, err := p.write(ctx, acquireSQL, text(r.Namespace), text(r.Owner), text(r.Node), text(r.Address), text(r.Version), number(r.Window))
	if err != nil {
		return Acquired{}, fmt.Errorf("acquiring a worker: %w", err)
	}
	c := columns{row: row}
	namespace, home, copied := c.text(), c.text(), c.bool()
	a := Acquired{Lease: Lease{Namespace: r.Namespace, Owner: r.Owner}, Ungated: c.bool()}
	granted := !c.null()
	a.Worker, a.Term = int(c.number()), c.number()
	a.Grant = Grant{Worker: a.Worker, From: c.number(), Until: c.number()}
	a.DatabaseMicros = c.number()
	gate := Refusal{Reason: GateClosed, Until: c.number(), Wait: c.micros()}
	none := Refusal{Reason: NoWorker, Workers: int(c.number()), Retired: int(c.number()), Until: c.number(), Wait: max(0, c.micros())}
	switch {
	case c.err != nil:
		p.Close()
		return Acquired{}, fmt.Errorf("acquiring a worker: reading the answer: %w", c.err)
	case namespace != r.Namespace:
		return Acquired{}, mismatch(r.Namespace, namespace)
	case home != "":
		return Acquired{}, elsewhere(namespace, home)
	case copied:
		return Acquired{}, &Refusal{Reason: Copy}
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
	row, err := p.write(ctx, renewSQL, text(r.Namespace), number(int64(r.Worker)), text(r.Owner), number(r.Term),
		number(r.Acknowledged), number(r.Wanted), number(r.Window))
	if err != nil {
		return Renewed{}, fmt.Errorf("renewing worker %d: %w", r.Worker, err)
	}
	c := columns{row: row}
	namespace, home, copied := c.text(), c.text(), c.bool()
	renewed := !c.null()
	answer := Renewed{Until: c.number(), DatabaseMicros: c.number()}
	lost := Lost{Worker: r.Worker, Acknowledged: r.Acknowledged, Mark: c.number(), Taken: c.bool(), Node: c.text(), Retired: c.bool(), Expired: c.bool()}
	switch {
	case c.err != nil:
		p.Close()
		return Renewed{}, fmt.Errorf("renewing worker %d: reading the answer: %w", r.Worker, c.err)
	case namespace != r.Namespace:
		return Renewed{}, mismatch(r.Namespace, namespace)
	case home != "":
		return Renewed{}, elsewhere(namespace, home)
	case copied:
		return Renewed{}, &Refusal{Reason: Copy}
	case renewed:
		return answer, nil
	default:
		return Renewed{}, &lost
	}
}

// Release implements Store.
func (p *Postgres) Release(ctx context.Context, l Lease, acknowledged int64) error {
	row, err := p.write(ctx, releaseSQL, text(l.Namespace), number(int64(l.Worker)), text(l.Owner), number(l.Term), number(acknowledged))
	if err != nil {
		return fmt.Errorf("releasing worker %d: %w", l.Worker, err)
	}
	c := columns{row: row}
	if namespace := c.text(); namespace != l.Namespace {
		return mismatch(l.Namespace, namespace)
	}
	return nil
}

// Close implements Store.
func (p *Postgres) Close() {
	if p.wire != nil {
		p.wire.close()
		p.wire = nil
	}
}

// write runs one statement in a transaction of its own and returns its row if, and only if, it was cleanly acknowledged.
func (p *Postgres) write(ctx context.Context, sql string, params ...param) ([]value, error) {
	if p.wire == nil {
		w, err := connect(ctx, p.config)
		if err != nil {
			return nil, err
		}
		p.wire = w
	}
	lock, whole := timeouts(ctx)
	x, err := p.wire.run(ctx,
		statement{sql: beginSQL},
		statement{sql: settingsSQL, params: []param{lock, whole}},
		statement{sql: sql, params: params},
		statement{sql: commitSQL})
	var row []value
	if err == nil {
		row, err = acknowledge(x)
	}
	if err != nil {
		p.Close()
		if blocked(err) {
			err = fmt.Errorf("%w: %w", ErrBlocked, err)
		}
		return nil, fmt.Errorf("outcome unknown: %w", err)
	}
	return row, nil
}

func blocked(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == lockNotAvailable
}

// timeouts leaves a lock half of the time there is, and the statement all of it, in milliseconds; 0 is no limit.
func timeouts(ctx context.Context) (lock, whole param) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return text("0"), text("0")
	}
	left := max(2, time.Until(deadline).Milliseconds())
	return number(left / 2), number(left)
}

func mismatch(want, found string) error {
	return fmt.Errorf("%w: expected namespace %s, found %s; check the lease database's URL", ErrNamespaceMismatch, want, found)
}

func elsewhere(namespace, home string) error {
	return fmt.Errorf("%w: the worker rows of namespace %s are in %q; give the lease database's URL as that one", ErrElsewhere, namespace, home)
}

func text(s string) param  { return param(s) }
func number(n int64) param { return strconv.AppendInt(nil, n, 10) }

// columns reads a row from left to right; NULL reads as zero. The first error sticks.
type columns struct {
	row []value
	err error
}

// null looks at the next column without taking it.
func (c *columns) null() bool { return len(c.row) > 0 && c.row[0] == nil }

func (c *columns) text() string {
	if len(c.row) == 0 {
		c.err = errors.Join(c.err, errors.New("the row has too few columns"))
		return ""
	}
	v := c.row[0]
	c.row = c.row[1:]
	return string(v)
}

func (c *columns) number() int64 {
	if c.null() {
		c.row = c.row[1:]
		return 0
	}
	n, err := strconv.ParseInt(c.text(), 10, 64)
	if err != nil && c.err == nil {
		c.err = err
	}
	return n
}

func (c *columns) micros() time.Duration { return time.Duration(c.number()) * time.Microsecond }

func (c *columns) bool() bool { return c.text() == "t" }
