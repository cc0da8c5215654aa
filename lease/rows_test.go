package lease

import (
	"fmt"
	"slices"
)

// rows is the worker table in memory: the same rules as acquire.sql, renew.sql and release.sql, in the same order. One
// tick is a millisecond. Each rule can be left out, to see that the histories notice.
type rows struct {
	namespace                string
	now                      func() int64 // the database's clock, ticks
	window, skew, quarantine int64
	timeline, serverTimeline int
	acquireAfter             int64
	workers                  []rowState
	history                  []rows // after every commit
	without                  string // the rule left out; empty: none
}

type rowState struct {
	owner             string
	term              int64
	mark, renewed     int64
	node              string
	released, retired bool
}

func (d *rows) commit() {
	d.history = append(d.history, rows{timeline: d.timeline, acquireAfter: d.acquireAfter, workers: slices.Clone(d.workers)})
}

// free is the tick at which the row may be taken.
func (d *rows) free(w rowState) int64 {
	if w.term == 0 || w.released {
		return w.mark
	}
	return w.mark + d.quarantine
}

func (d *rows) closeGate() (moved bool) {
	if d.timeline == d.serverTimeline || d.without == "gate" {
		return false
	}
	d.timeline = d.serverTimeline
	d.acquireAfter = max(d.acquireAfter, d.now()+d.quarantine)
	d.commit()
	return true
}

func (d *rows) acquire(r Request) (Acquired, error) {
	now := d.now()
	if moved := d.closeGate(); moved || d.acquireAfter > now {
		return Acquired{}, &Refusal{Reason: GateClosed, Until: d.acquireAfter, Wait: milliseconds(d.acquireAfter - now)}
	}
	best, next := -1, int64(1)<<62
	for i, w := range d.workers {
		if w.retired {
			continue
		}
		next = min(next, d.free(w))
		if d.free(w) > now && d.without != "mark" {
			continue
		}
		if best < 0 || class(w, r.Node) < class(d.workers[best], r.Node) {
			best = i
		}
	}
	if best < 0 {
		return Acquired{}, &Refusal{Reason: NoWorker, Workers: len(d.workers), Until: next, Wait: milliseconds(max(0, next-now))}
	}
	w := &d.workers[best]
	from := max(w.mark, now)
	if d.without == "mark" {
		from = now
	}
	*w = rowState{
		owner: r.Owner, term: w.term + 1, node: r.Node, renewed: now,
		mark: max(w.mark, from+min(r.Window, d.window)),
	}
	d.commit()
	return Acquired{
		Lease:          Lease{Namespace: r.Namespace, Worker: best, Owner: r.Owner, Term: w.term},
		Grant:          Grant{Worker: best, From: from, Until: w.mark},
		DatabaseMicros: now * 1000,
	}, nil
}

func class(w rowState, node string) string {
	switch {
	case w.node == node:
		return fmt.Sprintf("0 %020d", 1<<62-w.mark)
	case w.term == 0:
		return "1"
	default:
		return fmt.Sprintf("2 %020d", w.mark)
	}
}

func (d *rows) renew(r Renewal) (Renewed, error) {
	now := d.now()
	d.closeGate()
	w := &d.workers[r.Worker]
	taken := w.owner != r.Owner || w.term != r.Term
	if d.without == "owner" {
		taken = false
	}
	grace := d.quarantine - d.skew
	if d.without == "skew" {
		grace = d.quarantine
	}
	expired := w.mark+grace <= now && d.without != "expiry"
	if w.released || w.retired || taken || expired || w.mark < r.Acknowledged {
		return Renewed{}, &Lost{Worker: r.Worker, Acknowledged: r.Acknowledged, Mark: w.mark, Taken: taken, Retired: w.retired, Expired: expired}
	}
	limit := max(now+min(r.Window, d.window)+d.skew, w.mark+max(0, now-w.renewed))
	if d.without == "cap" {
		limit = max(now, w.mark) + min(r.Window, d.window) + d.skew
	}
	w.mark = max(w.mark, min(r.Wanted, limit))
	w.renewed = now
	d.commit()
	return Renewed{Until: w.mark, DatabaseMicros: now * 1000}, nil
}

func (d *rows) release(l Lease, acknowledged int64) error {
	w := &d.workers[l.Worker]
	if w.owner == l.Owner && w.term == l.Term && !w.released {
		w.released = true
		w.mark = max(w.mark, acknowledged)
		d.commit()
	}
	return nil
}

// reseed is what an operator does after a restore: reseed.sql.
func (d *rows) reseed() {
	now := d.now()
	for i := range d.workers {
		w := &d.workers[i]
		w.mark = max(w.mark, now+d.window+d.skew)
		if w.term > 0 {
			w.owner, w.term = fmt.Sprintf("reseeded %d", w.term), w.term+1
		}
		if d.without == "quarantine after a reseed" {
			w.released = true
		}
	}
	d.acquireAfter = max(d.acquireAfter, now+d.quarantine)
	d.commit()
}

// forget is a failover to a standby that lacks the last commits, on a new timeline.
func (d *rows) forget(commits int) {
	keep := max(1, len(d.history)-commits)
	d.history = d.history[:keep]
	left := d.history[keep-1]
	d.timeline, d.acquireAfter, d.workers = left.timeline, left.acquireAfter, slices.Clone(left.workers)
	d.serverTimeline++
}
