package lease

import (
	"context"
	_ "embed"
	"fmt"

	"pgflurry/acknowledge"
)

//go:embed past.sql
var pastSQL string

// PastRequest asks for ticks that are over, to give rows IDs of the time at which they were made.
type PastRequest struct {
	Namespace        string
	For              string // for people: it stands in the row as the holder
	Address, Version string // of the holder, for people
	From             int64  // ticks: the past must begin here or earlier
	NothingLost      bool   // the operator vouches that the rows know all IDs since then
}

// PastError says why no past was taken. Nothing was changed.
type PastError struct {
	// Known is the tick from which on the rows have all grants for sure; it is above the tick that was asked for. A
	// failover, a restore or a restart may have lost some before, and the ID space may be younger than another one that
	// was removed. 0: the rows have all that matter.
	Known int64
	// Longest is where the longest past of a free worker begins. nil: no worker is free.
	Longest *int64
}

func (e *PastError) Error() string {
	switch {
	case e.Known > 0:
		return fmt.Sprintf("the rows may have lost leases from before tick %d", e.Known)
	case e.Longest == nil:
		return "no worker is free"
	default:
		return fmt.Sprintf("the free worker with the longest past was used until tick %d", *e.Longest)
	}
}

// AcquirePast takes a grant that is over: the ticks of a free worker from its mark until now. It rests on what every
// grant rests on: no tick of a worker lies in two of them. The worker is free again at once, from now on. A *Refusal
// and a *PastError are clean answers. After any other error the past may be taken, and nobody uses it.
func (p *Postgres) AcquirePast(ctx context.Context, r PastRequest) (Grant, error) {
	const doing = "taking the past of a worker"
	c, err := p.writer.Write(ctx, pastSQL, acknowledge.Text(r.Namespace), acknowledge.Text(newOwner()),
		acknowledge.Text(r.For), acknowledge.Text(r.Address), acknowledge.Text(r.Version),
		acknowledge.Number(r.From), acknowledge.Text(fmt.Sprint(r.NothingLost)))
	if err != nil {
		return Grant{}, fmt.Errorf("%s: %w", doing, older(err))
	}
	namespace, home, copied, closed := c.Text(), c.Text(), c.Bool(), c.Bool()
	granted := !c.Null()
	grant := Grant{Worker: int(c.Number()), From: c.Number(), Until: c.Number()}
	gate := Refusal{Reason: GateClosed, Until: c.Number(), Wait: c.Micros()}
	if c.Bool() {
		gate.Reason = Starting
	}
	gate.By = c.Text()
	refused := PastError{Known: c.Number()}
	if !c.Null() {
		longest := c.Number()
		refused.Longest = &longest
	}
	if r.NothingLost || refused.Known <= r.From {
		refused.Known = 0
	}
	switch {
	case c.Err() != nil:
		return Grant{}, p.unread(doing, c.Err())
	case namespace != r.Namespace:
		return Grant{}, mismatch(r.Namespace, namespace)
	case home != "":
		return Grant{}, elsewhere(namespace, home)
	case copied:
		return Grant{}, &Refusal{Reason: Copy}
	case closed:
		return Grant{}, &Refusal{Reason: Closed}
	case granted:
		return grant, nil
	case gate.Wait > 0:
		return Grant{}, &gate
	default:
		return Grant{}, &refused
	}
}
