package simulation

import (
	"time"

	"pgflurry/internal/lease"
	"pgflurry/tests/support/rows"
)

// acquireIn acquires from a table in memory, as a lease.Store does from PostgreSQL.
func acquireIn(t *rows.Table, r lease.Request, choose func([]int) int) (lease.Acquired, error) {
	a := t.Acquire(rows.Acquire{
		Namespace: r.Namespace, Owner: r.Owner, Node: r.Node, Window: r.Window, Longest: r.Longest, Highest: 65535,
	}, choose)
	switch {
	case a[4] != nil:
		worker := int(a[4].(int64))
		return lease.Acquired{
			Lease:          lease.Lease{Namespace: r.Namespace, Worker: worker, Owner: r.Owner, Term: a[5].(int64)},
			Grant:          lease.Grant{Worker: worker, From: a[6].(int64), Until: a[7].(int64)},
			DatabaseMicros: a[8].(int64), Place: a[16].(string), Rest: time.Duration(a[19].(int64)) * time.Microsecond,
		}, nil
	case a[9] != nil:
		return lease.Acquired{}, &lease.Refusal{
			Reason: lease.GateClosed, Until: a[9].(int64), Wait: time.Duration(a[10].(int64)) * time.Microsecond,
		}
	}
	return lease.Acquired{}, &lease.Refusal{
		Reason: lease.NoWorker, Workers: int(a[11].(int64)), Until: a[13].(int64),
		Wait: max(0, time.Duration(a[14].(int64))*time.Microsecond),
	}
}

// renewIn renews in such a table.
func renewIn(t *rows.Table, r lease.Renewal) (lease.Renewed, error) {
	a := t.Renew(rows.Renew{
		Namespace: r.Namespace, Worker: r.Worker, Owner: r.Owner, Term: r.Term, Acknowledged: r.Acknowledged,
		Wanted: r.Wanted, Window: r.Window,
	})
	if a[3] == nil {
		return lease.Renewed{}, &lease.Lost{
			Worker: r.Worker, Mark: a[5].(int64), Acknowledged: r.Acknowledged,
			Taken: a[6].(bool), Retired: a[8].(bool), Expired: a[9].(bool),
			Place: a[11].(string), Forgot: a[12].(bool),
		}
	}
	return lease.Renewed{Until: a[3].(int64), DatabaseMicros: a[4].(int64), Place: a[11].(string)}, nil
}
