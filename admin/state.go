package admin

import (
	"context"
	"time"

	"pgflurry/histogram"
)

// A Node is the source of everything that admin shows. Its methods are safe for concurrent use.
type Node interface {
	// State is what the node knows now. It comes from memory and waits for nobody.
	State() State
	// Decode decodes an ID as a person typed it. An error says why it cannot be an ID of this namespace.
	Decode(id string) (Decoded, error)
	// History is who had a worker, the latest first. It asks the lease database and takes no longer than ctx.
	History(ctx context.Context, worker int) ([]Tenure, error)
}

// State is a node at one moment. Counters count since the process began.
type State struct {
	At      time.Time // by the wall clock
	Started time.Time
	Version string // of the program
	Name    string // the node's
	Address string // for clients, as in the worker table
	// Upstream is where sessions go.
	Upstream string

	LinesLost int64 // lines of the log that a slow reader lost

	Listening bool // clients are accepted
	Draining  bool

	Namespace Namespace
	Lease     Lease
	Clock     Clock
	Workers   Workers
	Answers   Answers
	Sessions  Sessions
	Upstreams Upstreams
	// IDDatabase has its own counters: Answers and Sessions include none of it. The page adds them up.
	IDDatabase IDDatabase
	Databases  []Database // as listed
	Segments   []Segment  // by database and tag
	// Certificates are those that the node shows, to clients and to its upstream.
	Certificates []Certificate
	// Reloaded is when the configuration was last read without an error.
	Reloaded time.Time
}

// Namespace is the ID space. The zero value: not read yet.
type Namespace struct {
	ID        string    // UUID
	Layout    string    // such as 41/0/10/12
	End       time.Time // of its timestamps
	Region    *int      // region of the lease database; nil: the ID space has no regions
	Lowest    int       // the first worker
	Workers   int       // how many there are from Lowest on, those of functions included
	Functions int       // how many of the first ones belong to functions of databases
}

// end is the first number after the workers.
func (n Namespace) end() int { return n.Lowest + n.Workers }

// Lease is the worker that the node holds.
type Lease struct {
	Held    bool          // a lease is in hand
	Worker  int           // of the grant in use, or of the last one; only meaningful if Granted
	Granted bool          // there was a grant since the process began
	Reserve time.Duration // from now to the mark, by the database's clock; 0: nothing is left
	Until   time.Time     // the mark, by the database's clock: no ID of the grant has a later time; zero: no grant
	Window  time.Duration // how far ahead a renewal reserves when all is well
	Renewed time.Time     // the last acknowledged renewal or acquisition, by the wall clock; zero: none
	// Reason says why there is no worker, or no renewal. It is "gate", "starting", "closed", "none_free",
	// "copy", "no_namespace", "unanswered" (the database does not acknowledge), "lost" or empty. Empty: all is well, or
	// there was no answer yet.
	Reason string
	Cause  string // the reason in words, as in the log; may exist without a reason, at first
	Hint   string // what to do; may be empty
	// Opens is when a closed gate opens, or the next worker is free if its holder is gone; zero: not known. The latter
	// moves, because holders renew.
	Opens time.Time

	Lost   string    // the last loss of a lease, in words; empty: none
	LostAt time.Time // zero: none

	// Forgotten is how often a row proved that acknowledged writes are gone; ForgottenAt is when it did last.
	Forgotten   int64
	ForgottenAt time.Time

	Renewals         map[string]int64 // by result: ok, unknown, refused, lost
	Acquisitions     map[string]int64 // by result: ok, unknown, refused
	RenewalDurations histogram.Snapshot
}

// Clock compares the clock of IDs with others.
type Clock struct {
	Known bool // the database has sent its time
	// Offset is how far this machine's wall clock is ahead of the database's; negative: behind. No ID depends on it.
	Offset time.Duration
	// Ahead is how far IDs are ahead of the database's clock; 0: they are not.
	Ahead     time.Duration
	RoundTrip time.Duration // of the last renewal
	// Slowed: the clock of IDs runs at 9/10 speed until the database's clock has caught up. A monotonic clock that is
	// slightly faster than the database's is slowed again and again, by milliseconds.
	Slowed bool
}

// Workers is the worker table as last read. The node reads it in the background.
type Workers struct {
	Read    time.Time // zero: not yet
	Problem string    // why the last reading failed; empty: it did not
	// Rows are those that were ever used, or retired; the others are free.
	Rows []Worker
	// Counts are the numbers of proxy workers by state: held, resting, free, retired.
	Counts map[string]int
	Opens  time.Time // when the gate opens; zero: it is open
	// FunctionAhead is how far the IDs of the function in the lease database are ahead of its clock; 0: they are not.
	FunctionAhead time.Duration
}

// Worker is one row.
type Worker struct {
	Number int
	// State is mine, held, resting, free, retired, or function. A resting worker is not free before its mark or its
	// quarantine has passed.
	State                  string
	Node, Address, Version string         // of the present or last holder; may be empty
	Left                   *time.Duration // from the database's now to its mark; negative: it is past; nil: not known
	Term                   int64
	Acquired, Renewed      time.Time // zero: never
	Released, Retired      time.Time // zero: not released, not retired
}

// Tenure is one acquisition of a worker.
type Tenure struct {
	Term                        int64
	Node, Address, Version      string
	Acquired, Renewed, Released time.Time // zero: never, or not known
	Until                       time.Time // the mark: no ID of this tenure has a later time; zero: not known
}

// Decoded is the content of an ID.
type Decoded struct {
	ID         int64
	Base32     string    // the ID as text
	Time       time.Time // the start of its tick; zero: an old key, which has no time
	Datacenter *int      // nil: the layout has none
	Worker     int
	Sequence   int
	Function   bool // the worker belongs to the function of a database
}

// Answers counts what was answered from memory, and what could not be.
type Answers struct {
	IDs      int64            // given
	Numbers  int64            // of tags, given
	ByKind   map[string]int64 // statements answered: snowflake, snowflakes, segment
	Declined map[string]int64 // forwarded because of missing IDs: no_lease, mark, tick_full, not_answerable, timeout
	Waits    histogram.Snapshot
}

// Sessions counts the clients.
type Sessions struct {
	Open     map[string]int // login, idle, in_transaction, failed
	Limit    int            // of all together; 0: no limit
	Full     bool           // a further one would be turned away
	Closed   map[string]int64
	Logins   map[string]int64 // by result
	LoginsIn histogram.Snapshot
	// Relayed counts bytes by direction: to_upstream, to_client.
	Relayed map[string]int64
	Cancels map[string]int64 // by result
}

// IDDatabase is the database whose sessions need no PostgreSQL. The zero value: there is none.
type IDDatabase struct {
	Name     string
	Open     map[string]int   // login, idle, in_transaction, failed
	Limit    int              // of those that have logged in; 0: no limit
	Full     bool             // a further one would be turned away
	Closed   map[string]int64 // by reason
	Logins   map[string]int64 // by result: ok, password, attempts, limit, unready, refused, left
	LoginsIn histogram.Snapshot
	IDs      int64            // given
	Numbers  int64            // of tags, given
	ByKind   map[string]int64 // statements with an answer: snowflake, snowflakes, segment
	Refused  map[string]int64 // statements with an error, by reason: no_ids, not_supported, other
	Accounts Accounts
	// Hides is a listed database whose server has a real database of that name, which clients cannot reach; empty:
	// none.
	Hides string
}

// Sessions is how many clients have logged in.
func (d IDDatabase) Sessions() int {
	all := 0
	for state, n := range d.Open {
		if state != "login" {
			all += n
		}
	}
	return all
}

// Accounts are who may log in to the ID database.
type Accounts struct {
	Needed  bool // false: everybody may log in, and nothing is read
	Count   int
	Read    time.Time     // when the accounts in use were read; zero: not yet
	From    string        // a file, or the table
	File    bool          // it is a file
	MaxAge  time.Duration // age at which logins stop; 0: they never do
	Problem string        // why the last reading failed; empty: it did not
	Hint    string        // what to do; may be empty
}

// Upstreams counts connections to PostgreSQL.
type Upstreams struct {
	Connects   map[string]int64 // by result
	ConnectsIn histogram.Snapshot
	// Hosts are set if only the primary among them gets connections; nil: any host may get some.
	Hosts []UpstreamHost
	Since time.Time // since when the present primary is known; zero: there is none
	Found int64     // how many primaries there were, one after the other
}

// UpstreamHost is one of several servers behind the proxy.
type UpstreamHost struct {
	Name    string
	Primary bool      // connections go to it
	Says    string    // its last answer
	Trouble string    // what is wrong with its answer; empty: nothing
	Heard   time.Time // time of its last answer; zero: none
}

// Database is a listed database.
type Database struct {
	Name        string
	IDs         string // all, qualified (only calls with their schema), none
	IDsWhy      string // why not all; may be empty
	IDsHint     string
	Segments    string // all, qualified, none
	SegmentsWhy string
	Judged      time.Time // time of the last look that judged it; zero: none
	Away        string    // why the last look found no PostgreSQL; empty: it found one, or there was no look yet
}

// Segment is one tag of one database.
type Segment struct {
	Database, Tag        string
	Left, Given, Skipped int64 // numbers: in memory, given, lost to this process
	Fetches, Unknown     int64 // fetches, and those with an unknown outcome
}

// Certificate is one certificate of a file.
type Certificate struct {
	File  string
	Until time.Time
}
