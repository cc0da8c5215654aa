package rows

import (
	"fmt"
	"slices"
)

// Table is the namespace row and the worker rows of one database. Its methods answer and change it as the statements of
// the same name do. Times are ticks.
type Table struct {
	Settings
	Now     int64  // the database's clock
	Started int64  // when the server started
	Server  string // WAL timeline of the server; "": not known
	Oids    string // of server, database and table; with the generation they are the place
	Copied  bool
	Closed  bool
	Home    string

	Timeline     string // of the namespace row; "": NULL
	Born         bool   // the namespace row was written since the server started
	Generation   int64
	AcquireAfter int64
	GateBy       string
	Joins        bool  // every database that has joined is known
	Rows         []Row // by worker
}

// Usual is a restart quarantine of NULL.
const Usual = -1

// Settings are fixed in the namespace row.
type Settings struct {
	Namespace                   string
	MaxWindow, Skew, Quarantine int64
	RestartQuarantine           int64 // Usual, or a number of ticks; 0: a restart forgets nothing
	End                         int64 // of the timestamp bits
	Unit                        int64 // microseconds
}

// Row is the row of a worker.
type Row struct {
	Kept              bool // kind is database or foreign: no proxy's
	Owner             string
	Term              int64
	Mark              int64
	Renewed           int64 // -1: NULL
	Node              string
	Released, Retired bool
}

// Acquire has the parameters of acquire.sql that matter.
type Acquire struct {
	Namespace, Owner, Node string
	Window, Longest        int64
	Lowest, Highest        int
}

// Renew has the parameters of renew.sql.
type Renew struct {
	Namespace            string
	Worker               int
	Owner                string
	Term                 int64
	Acknowledged, Wanted int64
	Window               int64
}

// Release has the parameters of release.sql.
type Release struct {
	Namespace    string
	Worker       int
	Owner        string
	Term         int64
	Acknowledged int64
}

// Answer is a row of SQL's answer: string, int64, bool, or nil for NULL.
type Answer []any

// Clone returns a copy that shares nothing.
func (t *Table) Clone() Table {
	c := *t
	c.Rows = slices.Clone(t.Rows)
	return c
}

func (t *Table) moved() bool { return t.Server != "" && t.Timeline != t.Server }

// lack returns by how much the quarantine is too short for the longest window of the asking proxy.
func (t *Table) lack(a Acquire) int64 { return max(0, a.Longest+2*t.Skew-t.Quarantine) }

// gate returns the tick before which this proxy gets nothing.
func (t *Table) gate(a Acquire) int64 {
	if t.AcquireAfter > 0 {
		return t.AcquireAfter + t.lack(a)
	}
	return 0
}

// settling returns how long this proxy gets nothing after a start of the server.
func (t *Table) settling(longest int64) int64 {
	if t.RestartQuarantine != Usual {
		return t.RestartQuarantine
	}
	return max(t.MaxWindow, longest) + 2*t.Skew
}

// mayForget reports whether the server may have forgotten something when it started.
func (t *Table) mayForget() bool { return !t.Born && t.RestartQuarantine != 0 }

// settled returns the tick at which all that the server may have forgotten has ended.
func (t *Table) settled(a Acquire) int64 {
	if !t.mayForget() {
		return 0
	}
	return t.Started + 1 + t.settling(a.Longest)
}

// free returns the tick from which this proxy may take a row.
func (t *Table) free(r *Row, a Acquire) int64 {
	if r.Term == 0 || r.Released {
		return r.Mark
	}
	return r.Mark + t.Quarantine + t.lack(a)
}

func (t *Table) closeGate() {
	t.Timeline = t.Server
	t.AcquireAfter = max(t.AcquireAfter, t.Now+t.Quarantine)
}

// forgot reports whether a row proves that acknowledged writes are gone.
func (r *Row) forgot(owner string, term, acknowledged int64) bool {
	return r.Term < term || r.Term == term && r.Owner != "" && r.Owner != owner || r.Mark < acknowledged
}

// witnessed closes the gate, since acknowledged writes are gone.
func (t *Table) witnessed() {
	t.AcquireAfter = max(t.AcquireAfter, t.Now+t.Quarantine)
	t.Joins = false
}

// Place is pgflurry.place().
func (t *Table) Place() string { return fmt.Sprintf("%s/%d", t.Oids, t.Generation) }

// A class is the rank of a row in an acquisition. A lower one is better.
type class struct {
	kind int // 0: the node's own, 1: never used, 2: any other
	mark int64
}

func (a Acquire) class(r *Row) class {
	switch {
	case r.Node == a.Node:
		return class{0, -r.Mark}
	case r.Term > 0:
		return class{2, r.Mark}
	}
	return class{kind: 1}
}

// candidates returns the workers that an acquisition may take. All are of the best class, and any of them will do.
func (t *Table) candidates(a Acquire) (workers []int) {
	if a.Namespace != t.Namespace || t.Home != "" || t.Copied || t.moved() || t.gate(a) > t.Now || t.Now >= t.End ||
		t.Closed || t.settled(a) > t.Now {
		return nil
	}
	var best class
	for worker := range t.Rows {
		r := &t.Rows[worker]
		if r.Kept || r.Retired || worker < a.Lowest || worker > a.Highest || t.free(r, a) > t.Now {
			continue
		}
		class := a.class(r)
		if workers == nil || class.kind < best.kind || class.kind == best.kind && class.mark < best.mark {
			best, workers = class, workers[:0]
		}
		if class == best {
			workers = append(workers, worker)
		}
	}
	return workers
}

// Acquire is acquire.sql. choose picks one of the workers that it may take.
func (t *Table) Acquire(a Acquire, choose func(workers []int) int) Answer {
	gate, settled, moved := t.gate(a), t.settled(a), t.moved()
	taken := Answer{nil, nil, nil, nil}
	granted := t.candidates(a)
	if moved && a.Namespace == t.Namespace {
		t.closeGate()
	}
	if granted != nil {
		worker := choose(granted)
		r := &t.Rows[worker]
		*r = Row{
			Owner: a.Owner, Term: r.Term + 1, Node: a.Node, Renewed: t.Now,
			Mark: min(max(r.Mark, t.Now)+min(a.Window, t.MaxWindow), t.End),
		}
		taken = Answer{int64(worker), r.Term, t.Now, r.Mark}
	}
	var opens, started any
	switch {
	case moved:
		opens = max(gate, settled, t.Now+t.Quarantine+t.lack(a))
	case max(gate, settled) > t.Now:
		opens = max(gate, settled)
	}
	if opens != nil {
		started = opens == settled
	}
	all := Answer{t.Namespace, orNull(t.Home), t.Copied, t.Server == ""}
	all = append(append(all, taken...), t.Now*t.Unit, opens, t.ahead(opens))
	refusal := Answer{nil, nil, nil, nil}
	if granted == nil {
		refusal = t.refusal(a)
	}
	return append(append(all, refusal...),
		t.Closed, t.Place(), started, t.GateBy, (t.Quarantine+t.lack(a))*t.Unit, "")
}

// refusal says when a worker becomes free.
func (t *Table) refusal(a Acquire) Answer {
	workers, retired := int64(0), int64(0)
	var next any
	for worker := range t.Rows {
		r := &t.Rows[worker]
		if r.Kept || worker < a.Lowest || worker > a.Highest {
			continue
		}
		workers++
		if r.Retired {
			retired++
		} else if free := t.free(r, a); next == nil || free < next.(int64) {
			next = free
		}
	}
	return Answer{workers, retired, next, t.ahead(next)}
}

func (t *Table) ahead(tick any) any {
	if tick == nil {
		return nil
	}
	return (tick.(int64) - t.Now) * t.Unit
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// Renew is renew.sql.
func (t *Table) Renew(n Renew) Answer {
	matches, moved := n.Namespace == t.Namespace && t.Home == "" && !t.Copied, t.moved()
	if matches && moved {
		t.closeGate()
	}
	all := Answer{t.Namespace, orNull(t.Home), t.Copied}
	if n.Worker < 0 || n.Worker >= len(t.Rows) {
		return append(all, nil, t.Now*t.Unit, nil, true, nil, false, nil, t.Closed, t.Place(), false)
	}
	r := &t.Rows[n.Worker]
	before := *r
	forgot := matches && r.forgot(n.Owner, n.Term, n.Acknowledged)
	if forgot && !moved {
		t.witnessed()
	}
	taken := before.Owner != n.Owner || before.Term != n.Term || before.Owner == ""
	expired := before.Mark+t.Quarantine-t.Skew <= t.Now || t.stale(&before)
	var renewed any
	if matches && !t.Closed && !r.Kept && !taken && !r.Released && !r.Retired && r.Mark >= n.Acknowledged &&
		!expired {
		passed := int64(0)
		if r.Renewed >= 0 {
			passed = max(0, t.Now-r.Renewed)
		}
		limit := max(t.Now+min(n.Window, t.MaxWindow)+t.Skew, r.Mark+passed)
		r.Mark = max(r.Mark, min(n.Wanted, t.End, limit))
		r.Renewed = t.Now
		renewed = r.Mark
	}
	return append(all, renewed, t.Now*t.Unit, before.Mark, taken, orNull(before.Node), before.Retired, expired,
		t.Closed, t.Place(), forgot)
}

// stale reports whether another server, which was the primary before the start of this one, may have granted the worker
// since its last renewal.
func (t *Table) stale(r *Row) bool {
	return t.mayForget() && r.Renewed >= 0 && r.Renewed < t.Started &&
		r.Renewed+min(t.Quarantine, t.settling(0)) <= t.Now
}

// Release is release.sql.
func (t *Table) Release(l Release) Answer {
	if l.Namespace != t.Namespace || l.Worker < 0 || l.Worker >= len(t.Rows) {
		return Answer{t.Namespace, nil, false}
	}
	r := &t.Rows[l.Worker]
	forgot := t.Home == "" && !t.Copied && r.forgot(l.Owner, l.Term, l.Acknowledged)
	if forgot {
		t.witnessed()
	}
	if r.Kept || r.Owner != l.Owner || r.Term != l.Term || r.Released || r.Owner == "" {
		return Answer{t.Namespace, nil, forgot}
	}
	r.Mark, r.Released = max(r.Mark, l.Acknowledged), true
	return Answer{t.Namespace, int64(l.Worker), forgot}
}

// Reseed is reseed.sql. owner returns a new owner.
func (t *Table) Reseed(owner func() string) Answer {
	mark := min(t.End, t.Now+t.MaxWindow+t.Skew)
	t.AcquireAfter = max(t.AcquireAfter, t.Now+t.Quarantine)
	t.Generation, t.Joins = max(t.Generation+1, t.Now), false
	if t.Server != "" {
		t.Timeline = t.Server
	}
	workers, raised, held := int64(0), int64(0), int64(0)
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Kept {
			continue
		}
		workers++
		if r.Mark < mark {
			raised++
		}
		if r.Term > 0 && !r.Released && !r.Retired && r.Mark > t.Now {
			held++
		}
		r.Mark, r.Renewed = max(r.Mark, mark), -1
		if r.Term > 0 {
			r.Owner, r.Term = owner(), r.Term+1
		}
	}
	return Answer{true, workers, raised, held, mark, t.AcquireAfter}
}

// SetQuarantine is a statement of internal/namespace/decide/queries.sql.
func (t *Table) SetQuarantine(quarantine int64) {
	for i := range t.Rows {
		r := &t.Rows[i]
		if !r.Kept && r.Term > 0 && !r.Released && !r.Retired && r.Mark <= t.Now {
			r.Mark, r.Released = max(r.Mark, min(r.Mark+t.Quarantine, t.End)), true
		}
	}
	if t.AcquireAfter > 0 {
		t.AcquireAfter = max(t.AcquireAfter, t.AcquireAfter+quarantine-t.Quarantine)
	}
	t.Quarantine = quarantine
}

// LongGrants is a statement of internal/namespace/decide/queries.sql.
func (t *Table) LongGrants() bool {
	for _, r := range t.Rows {
		if !r.Kept && r.Term > 0 && !r.Released && r.Mark > t.Now+t.MaxWindow+t.Skew {
			return true
		}
	}
	return t.AcquireAfter > t.Now || t.moved()
}

// Retire is retire.sql. It only returns whether the worker was retired.
func (t *Table) Retire(worker int, held bool) (done bool) {
	r := &t.Rows[worker]
	if r.Kept || r.Retired || !held && r.Term > 0 && !r.Released && r.Renewed >= 0 && r.Mark > t.Now {
		return false
	}
	r.Retired = true
	return true
}
