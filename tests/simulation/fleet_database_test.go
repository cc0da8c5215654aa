//go:build full

package simulation

import (
	"container/heap"
	"context"
	"errors"
	"time"

	"pgflurry/internal/lease"
	"pgflurry/tests/support/rows"
)

// capacity is the capacity of a database server. The zero value answers everything at once.
type capacity struct {
	cores       int           // 0: all statements run at full speed
	connections int           // max_connections; 0: any number
	pooled      int           // statements that a pooler lets through at a time; 0: no pooler
	trip        time.Duration // round trip, with the commit's write

	// Processor times.
	login            time.Duration
	acquire, perFree time.Duration // perFree: for each worker that is free
	perRow           time.Duration // of acquire, for each worker in the table
	renew            time.Duration
}

// A database is the table, and a server with a capacity. Statements that run at the same time share the processors
// evenly, as in PostgreSQL.
type database struct {
	f *fleet
	capacity
	table       rows.Table
	away        away
	taken       int // workers taken at the start of this second
	life        int // number of cuts: connections from before are dead
	open        int // connections
	running     jobs
	queue       []*job        // statements that wait in the pooler
	virtual     time.Duration // processor time of a statement that ran since the start
	last        time.Duration // when virtual was updated
	alarm       int           // number of the plan that is valid
	unreachable int           // refused logins, because all connections were taken
}

// A job is a statement under way.
type job struct {
	asker *member // nil: nobody waits for it any more
	do    func()  // changes the table

	demand  time.Duration // of processor time
	end     time.Duration // the value of virtual at which it is done
	index   int           // in running; -1: not running
	dropped bool          // it will have no effect
}

type jobs []*job

func (j jobs) Len() int           { return len(j) }
func (j jobs) Less(a, b int) bool { return j[a].end < j[b].end }
func (j jobs) Swap(a, b int)      { j[a], j[b] = j[b], j[a]; j[a].index, j[b].index = a, b }
func (j *jobs) Push(x any)        { x.(*job).index = len(*j); *j = append(*j, x.(*job)) }

func (j *jobs) Pop() any {
	last := (*j)[len(*j)-1]
	last.index = -1
	*j = (*j)[:len(*j)-1]
	return last
}

var (
	errFull    = errors.New("sorry, too many clients already")
	errPatient = context.DeadlineExceeded
)

// run runs a statement for a member, until the deadline of ctx. It returns nil when the answer is there. The member's
// goroutine calls it.
func (d *database) run(ctx context.Context, m *member, demand time.Duration, do func()) error {
	if m.killed {
		return errCut
	}
	deadline, _ := ctx.Deadline()
	j := &job{asker: m, do: do, index: -1}
	m.job = j
	d.f.at(d.f.now()+d.trip/2, func() { d.arrive(j, demand) })
	d.f.at(deadline.Sub(d.f.start), func() {
		if j.asker == nil {
			return
		}
		d.drop(j) // the server's statement_timeout ends it, too
		d.answer(j, errPatient)
	})
	return m.ask()
}

// arrive is called when a statement reaches the server, or the login before it.
func (d *database) arrive(j *job, demand time.Duration) {
	m := j.asker
	switch {
	case m == nil || d.away == hung:
		return
	case d.away == stopped || m.connected != 0 && m.connected != d.life+1:
		d.answer(j, errAway)
		return
	case m.connected == 0:
		d.f.current.logins++
		if d.connections > 0 && d.open >= d.connections {
			d.unreachable++
			d.answer(j, errFull)
			return
		}
		d.open++
		m.connected = d.life + 1
		if d.pooled == 0 { // a pooler has its connections open already
			demand += d.login
		}
	}
	if d.cores == 0 {
		d.finish(j)
		return
	}
	d.catchUp()
	j.demand = demand
	d.queue = append(d.queue, j)
	d.admit()
	d.plan()
}

// admit starts waiting statements, the oldest first.
func (d *database) admit() {
	for len(d.queue) > 0 && (d.pooled == 0 || len(d.running) < d.pooled) {
		j := d.queue[0]
		d.queue = d.queue[1:]
		if j.asker == nil { // its member has given up
			continue
		}
		j.end = d.virtual + j.demand
		heap.Push(&d.running, j)
	}
}

// catchUp accounts for the processor time since the last update.
func (d *database) catchUp() {
	now := d.f.now()
	if n := len(d.running); n > 0 {
		d.virtual += (now - d.last) * time.Duration(min(n, d.cores)) / time.Duration(n)
	}
	d.last = now
}

// plan puts the next end of a statement on the agenda.
func (d *database) plan() {
	d.alarm++
	n := time.Duration(len(d.running))
	if n == 0 {
		return
	}
	this, left := d.alarm, max(0, d.running[0].end-d.virtual)
	at := time.Duration(min(int(n), d.cores))
	d.f.at(d.f.now()+(left*n+at-1)/at, func() {
		if this != d.alarm {
			return
		}
		d.catchUp()
		for len(d.running) > 0 && d.running[0].end <= d.virtual {
			d.finish(heap.Pop(&d.running).(*job))
		}
		d.admit()
		d.plan()
	})
}

// finish commits a statement and sends the answer.
func (d *database) finish(j *job) {
	d.table.Now = d.ticks()
	if !j.dropped {
		j.do()
	}
	d.f.at(d.f.now()+d.trip-d.trip/2, func() {
		if j.asker != nil && j.asker.connected == d.life+1 {
			d.answer(j, nil)
		}
	})
}

// answer delivers the result to the member.
func (d *database) answer(j *job, err error) {
	m := j.asker
	j.asker, m.job = nil, nil
	if err != nil {
		m.Close()
	}
	m.goOn(err)
}

// drop ends a running statement without effect.
func (d *database) drop(j *job) {
	j.dropped = true
	if j.index < 0 {
		return
	}
	d.catchUp()
	heap.Remove(&d.running, j.index)
	d.admit()
	d.plan()
}

// cut ends all connections. Running statements have no effect.
func (d *database) cut() {
	d.life++
	d.open = 0
	d.running, d.queue = nil, nil
	d.plan()
	for _, m := range d.f.members {
		if j := m.job; j != nil && m.connected == d.life {
			j.index, j.dropped = -1, true
			d.answer(j, errCut)
		}
	}
}

// failover promotes a synchronous standby: nothing is lost, and the timeline changes.
func (f *fleet) failover() {
	f.database.cut()
	f.database.table.Server += "0"
}

// ticks is the database's clock. It began an hour after the epoch.
func (d *database) ticks() int64 { return (time.Hour + d.f.now()).Milliseconds() }

// occupied counts the workers that a new node could not take.
func (d *database) occupied() (n int) {
	now := d.ticks()
	for i := range d.table.Rows {
		r := &d.table.Rows[i]
		rest := d.table.Quarantine
		if r.Released || r.Term == 0 {
			rest = 0
		}
		if !r.Kept && r.Mark+rest > now {
			n++
		}
	}
	return n
}

// leased counts the workers that were taken at any time.
func (d *database) leased() (n int) {
	for i := range d.table.Rows {
		if d.table.Rows[i].Term > 0 {
			n++
		}
	}
	return n
}

// acquireDemand is the processor time of an acquisition that begins now. It uses the number of free workers at the
// start of the second.
func (d *database) acquireDemand() time.Duration {
	if d.cores == 0 {
		return 0
	}
	n := len(d.table.Rows)
	return d.acquire + time.Duration(n)*d.perRow + time.Duration(n-d.taken)*d.perFree
}

// Acquire implements lease.Store.
func (m *member) Acquire(ctx context.Context, r lease.Request) (a lease.Acquired, err error) {
	d := m.f.database
	lost := d.run(ctx, m, d.acquireDemand(), func() {
		a, err = acquireIn(&d.table, r, func(workers []int) int { return workers[m.f.random.IntN(len(workers))] })
		if err != nil {
			m.f.current.refused++
		} else {
			m.f.current.granted++
		}
	})
	if lost != nil {
		return lease.Acquired{}, lost
	}
	return a, err
}

// Renew implements lease.Store.
func (m *member) Renew(ctx context.Context, r lease.Renewal) (a lease.Renewed, err error) {
	d := m.f.database
	lost := d.run(ctx, m, d.renew, func() {
		if a, err = renewIn(&d.table, r); err != nil {
			m.f.current.lost++
		} else {
			m.f.current.renewals++
		}
	})
	if lost != nil {
		return lease.Renewed{}, lost
	}
	return a, err
}

// Release implements lease.Store.
func (m *member) Release(ctx context.Context, l lease.Lease, acknowledged int64) error {
	d := m.f.database
	return d.run(ctx, m, d.renew, func() {
		d.table.Release(rows.Release{
			Namespace: l.Namespace, Worker: l.Worker, Owner: l.Owner, Term: l.Term, Acknowledged: acknowledged,
		})
	})
}

// Close implements lease.Store.
func (m *member) Close() {
	if m.connected == m.f.database.life+1 {
		m.f.database.open--
	}
	m.connected = 0
}
