package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/internal/lease"
	"pgflurry/internal/report"
)

// historyName is the default application_name of that question's connection.
const historyName = "pgflurry serve, history"

var errHistoryBusy = fault.WithHint(errors.New("another question for the history of a worker is under way"),
	"One is put at a time. Ask again.")

// history asks the lease database who had a worker, the latest first. It asks one question at a time, over a connection
// of its own, for at most five seconds.
func (u *supply) history(ctx context.Context, worker int) ([]report.Tenure, error) {
	known := u.known.Load()
	if known == nil {
		return nil, fmt.Errorf("the history of worker %d: the namespace is not known yet", worker)
	}
	layout := known.namespace.Layout
	switch ns := known.namespace; {
	case worker < 0 || worker >= layout.Workers():
		return nil, fmt.Errorf("there is no worker %d: layout %v has workers 0 to %d",
			worker, layout, layout.Workers()-1)
	case !ns.Workers().Has(worker):
		return nil, fmt.Errorf("worker %d is of region %d, and only a database of that region knows who had it; "+
			"this is region %d", worker, worker>>layout.WorkerBits, *ns.Region)
	}
	if !u.asking.TryLock() {
		return nil, errHistoryBusy
	}
	defer u.asking.Unlock()
	var tenures []lease.Tenure
	err := connect.AskOnce(ctx, u.lease, historyName, askTimeout,
		func(ctx context.Context, conn *pgx.Conn) (err error) {
			tenures, err = lease.History(ctx, conn, &worker)
			return err
		})
	if err != nil {
		return nil, connect.Explain(err)
	}
	all := make([]report.Tenure, len(tenures))
	for i, t := range tenures {
		all[i] = report.Tenure{
			Term: t.Term, Node: t.Node, Address: t.Address, Version: t.Version, Acquired: when(t.AcquiredAt),
			Renewed: when(t.RenewedAt), Released: when(t.ReleasedAt),
		}
		if t.ReservedUntil != nil {
			all[i].Until = layout.Time(*t.ReservedUntil)
		}
	}
	return all, nil
}

// when maps nil to the zero time.
func when(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
