package lease

import (
	"errors"
	"fmt"
	"time"

	"pgflurry/internal/fault"
	"pgflurry/internal/lease/acknowledge"
)

// Request asks for any free worker.
type Request struct {
	Namespace string // UUID of the namespace that the database must have
	Owner     string // UUID, random, new for each request
	Node      string // name of this node, 1 to 255 characters; it gets its last worker again if that is free
	Address   string // for people: where this process listens; may be empty
	Version   string // for people: version of this program; may be empty
	Window    int64  // ticks to reserve from the database's now; capped by the namespace's max_window
	// ticks: the longest window that renewals will ask for; above max_window, grants may be longer than the row knows
	Longest int64
	Range   Range // which workers may be taken; zero: all
}

// Range is the workers from Lowest to Highest, both included: the workers of a datacenter. The zero value is all
// workers.
type Range struct{ Lowest, Highest int }

// highest is a worker that no layout exceeds.
const highest = 1<<16 - 1

func (r Range) ends() (lowest, top int) {
	if r == (Range{}) {
		return 0, highest
	}
	return r.Lowest, r.Highest
}

// of returns "1023 workers", and their range if they are not all.
func (r Range) of(workers int) string {
	if r == (Range{}) {
		return fmt.Sprintf("%d workers", workers)
	}
	return fmt.Sprintf("%d workers from %d to %d", workers, r.Lowest, r.Highest)
}

// Lease identifies one acquisition of one worker. Two acquisitions never share owner and term.
type Lease struct {
	Namespace string // UUID
	Worker    int    // the number in the datacenter and worker bits of an ID
	Owner     string // UUID
	Term      int64  // raised by each acquisition, first 1
}

// Grant is what the issuer may use: IDs of Worker with a tick in [From, Until).
type Grant struct {
	Worker      int
	From, Until int64 // ticks; Until is exclusive
}

// Acquired is the clean acknowledgement of a Request.
type Acquired struct {
	Lease
	Grant          Grant
	DatabaseMicros int64 // the database's clock at the write: microseconds since the epoch of the namespace
	Ungated        bool  // the server does not show its WAL timeline, so a failover closes no gate
	// which database answered, only for comparison with later answers; empty: it makes no statement
	Place string
	Rest  time.Duration // how long a worker of the namespace rests that was not released
}

// Renewal asks for a later mark.
type Renewal struct {
	Lease
	Acknowledged int64 // ticks: the last acknowledged mark of this lease; a row below it has lost a commit
	Wanted       int64 // ticks: the wanted mark; the database limits it
	// ticks: how far ahead of the database's now the mark may be; at most the namespace's max_window
	Window int64
	Sent   time.Duration // monotonic: when it was asked
}

// Renewed is the clean acknowledgement of a Renewal.
type Renewed struct {
	// the earlier Renewal of the lease that this answers, late; nil: the one that was asked now
	Late           *Renewal
	Until          int64 // ticks, exclusive: the new mark, never below Renewal.Acknowledged, often below Renewal.Wanted
	DatabaseMicros int64 // as in Acquired
	Place          string
}

// Reason says why a worker was not granted. It is one of package fault.
type Reason string

const (
	// GateClosed: the database has noticed a failover, restore or reseed. Acquisitions wait until every grant that it
	// may have forgotten has ended.
	GateClosed Reason = fault.Gate
	// NoWorker: every worker is held, in quarantine or retired.
	NoWorker Reason = fault.NoneFree
	// Copy: the database was restored (also in place), cloned or made from a template, and the operator has not said
	// yet what it shall be.
	Copy Reason = fault.Copy
	// Starting: the server has just started, and may have forgotten grants. Acquisitions wait until those have ended.
	Starting Reason = fault.Starting
	// Closed: the operator has closed the database for good. Another one may take its place. A holder stops at once,
	// and its lease stays in the row, which may be copied.
	Closed Reason = fault.Closed
)

// Refusal is a clean answer that grants nothing. It says why, and when to ask again.
type Refusal struct {
	Reason  Reason
	Until   int64         // ticks: when the gate opens, or the next worker is free if its holder is gone; 0: never
	Wait    time.Duration // from the database's now to Until; 0: no wait helps, or another session held the free row
	Workers int           // NoWorker: how many workers for proxies are in Range
	Retired int           // NoWorker: how many of them are retired
	Range   Range         // NoWorker: the workers asked for
	By      string        // GateClosed: who closed the gate, and when; empty: not known
}

func (r *Refusal) Error() string {
	wait := r.Wait.Round(time.Second)
	switch {
	case r.Reason == GateClosed && r.By != "":
		return fmt.Sprintf("no worker is granted for another %v: the database was failed over, restored or reseeded "+
			"(the gate was closed by %s)", wait, r.By)
	case r.Reason == GateClosed:
		return fmt.Sprintf("no worker is granted for another %v: the database was failed over, restored or reseeded",
			wait)
	case r.Reason == Starting:
		return fmt.Sprintf("no worker is granted for another %v: the server has just started, and what it may have "+
			"forgotten must have ended; \"pgflurry namespace set --restart-quarantine\" changes how long", wait)
	case r.Reason == Closed:
		return `no worker is granted: the database was closed for good with "pgflurry namespace close"`
	case r.Reason == Copy:
		return `no worker is granted: the database is a copy or was restored; ` +
			`run "pgflurry migrate up --database URL" on it, which says how to go on`
	case r.Workers == 0:
		return fmt.Sprintf("no worker is granted: there are %s that this role may lease; "+
			"the owner of the schema gives it some: CALL pgflurry.grant_lease(role)", r.Range.of(0))
	case r.Retired == r.Workers:
		return fmt.Sprintf("no worker is left: all %s are retired; a wider layout needs a new namespace",
			r.Range.of(r.Workers))
	case r.Wait <= 0 && r.By != "":
		return fmt.Sprintf("no worker could be taken: of %s (%d retired) all that are free are locked by role %s",
			r.Range.of(r.Workers), r.Retired, r.By)
	case r.Wait <= 0:
		return fmt.Sprintf("no worker could be taken: others are taking the last of %s (%d retired) just now",
			r.Range.of(r.Workers), r.Retired)
	default:
		return fmt.Sprintf("no worker is free: %s, %d of them retired, the others in use; "+
			"the next is free in %v if its holder is gone",
			r.Range.of(r.Workers), r.Retired, wait)
	}
}

// Lost is a clean answer to a Renewal that changed no row: the lease is over. The grant in hand may be finished.
type Lost struct {
	Worker       int
	Retired      bool   // an operator retired the worker
	Taken        bool   // the row carries another owner or term
	Expired      bool   // mark and quarantine (less the skew) have passed: others may have had the worker
	Node         string // with Taken: the node in the row
	Forgot       bool   // the row proves that acknowledged writes are gone: term, owner or mark are older than ours
	Place        string // as in Acquired
	Mark         int64  // ticks: reserved_until in the row
	Acknowledged int64  // ticks: the acknowledged mark of this lease
}

// CommitLost reports whether the row proves that the database lost a write it had acknowledged.
func (l *Lost) CommitLost() bool { return l.Forgot || l.Mark < l.Acknowledged }

func (l *Lost) Error() string {
	switch {
	case l.CommitLost():
		return fmt.Sprintf("worker %d is lost: its row is reserved until tick %d, but tick %d or a later lease was "+
			"acknowledged: the database has lost a commit", l.Worker, l.Mark, l.Acknowledged)
	case l.Taken:
		return fmt.Sprintf("worker %d is lost: its row carries another acquisition, by node %q, or was reseeded",
			l.Worker, l.Node)
	case l.Retired:
		return fmt.Sprintf("worker %d is lost: it was retired", l.Worker)
	case l.Expired:
		return fmt.Sprintf("worker %d is lost: it was not renewed until its quarantine was over", l.Worker)
	default:
		return fmt.Sprintf("worker %d is lost: its row no longer carries this lease, or this role may not lease "+
			"it any more", l.Worker)
	}
}

var (
	// ErrNamespaceMismatch: the database has another namespace than the one asked for. Only other settings help.
	ErrNamespaceMismatch = errors.New("the database carries another namespace")

	// ErrElsewhere: this database has the namespace, but its worker rows are in another database.
	ErrElsewhere = errors.New("no worker is granted from this database")

	// ErrBlocked: the outcome is unknown because another session holds a lock on the row. Other rows may be free.
	ErrBlocked = acknowledge.ErrBlocked
)
