package admin

import (
	"context"
	"time"

	"pgflurry/histogram"
)

// A Node is what admin shows. Its methods are safe for concurrent use.
type Node interface {
	// State is what the node knows now. It comes from memory and waits for nobody.
	State() State
	// Decode takes an ID apart, as a person typed it. An error says why it cannot be one of this namespace.
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
	Address string // where clients connect, as the worker table has it
	// Upstream is where sessions go.
	Upstream string

	LinesLost int64 // of the log: its reader was too slow

	Listening bool // clients are accepted
	Draining  bool

	Namespace Namespace
	Lease     Lease
	Clock     Clock
	Workers   Workers
	Answers   Answers
	Sessions  Sessions
	Upstreams Upstreams
	// IDDatabase is counted apart: nothing of it is in Answers or Sessions.
	IDDatabase IDDatabase
	Databases  []Database // as listed
	Segments   []Segment  // by database and tag
	// Certificates are those that the node shows: to clients, and to its upstream.
	Certificates []Certificate
	// Reloaded is when the configuration was read the last time without an error.
	Reloaded time.Time
}

// Namespace is the ID space. The zero value: it was not read yet.
type Namespace struct {
	ID        string    // UUID
	Layout    string    // such as 41/0/10/12
	End       time.Time // of its timestamps
	Region    *int      // of the ID space that the lease database is; nil: the space has no regions
	Lowest    int       // the first worker
	Workers   int       // how many there are from Lowest on, those of functions included
	Functions int       // the first so many of them are of databases' functions
}

// end is the first number behind the workers.
func (n Namespace) end() int { return n.Lowest + n.Workers }

// Lease is the worker that the node holds.
type Lease struct {
	Held    bool          // a lease is in hand
	Worker  int           // of the grant in use, or of the last; only meaningful if Granted
	Granted bool          // there was a grant since the process began
	Reserve time.Duration // from now to the mark, by the database's clock; 0: none is left
	Until   time.Time     // the mark, by the database's clock: no ID of the grant has a later time; zero: no grant
	Window  time.Duration // how far ahead a renewal reserves when all is well
	Renewed time.Time     // the last acknowledged renewal or acquisition, by the wall clock; zero: none
	// Reason says why there is no worker, or no renewal: "gate", "none_free", "copy", "no_namespace", "unanswered"
	// (the database does not acknowledge), "lost"; empty: all is well, or the first answer is under way.
	Reason string
	Cause  string // the same in words, as the log has it; may be there without a reason, at first
	Hint   string // what to do; may be empty
	// Opens is when a closed gate opens, or the next worker is free; zero: not known.
	Opens time.Time

	Renewals         map[string]int64 // by result: ok, unknown, refused, lost
	Acquisitions     map[string]int64 // by result: ok, unknown, refused
	RenewalDurations histogram.Snapshot
}

// Clock is how the clock of IDs stands to others.
type Clock struct {
	Known bool // the database has told its clock
	// Offset is how far this machine's wall clock is ahead of the database's; negative: behind. No ID depends on it.
	Offset time.Duration
	// Ahead is how far IDs are ahead of the database's clock; 0: they are not.
	Ahead     time.Duration
	RoundTrip time.Duration // of the last renewal
	// Slowed says that it runs at 9/10 speed until the database's clock has caught up. A monotonic clock that is a
	// little faster than the database's is slowed again and again, by milliseconds.
	Slowed bool
}

// Workers is the worker table as last read. The node reads it in the background.
type Workers struct {
	Read    time.Time // zero: not yet
	Problem string    // why the last reading failed; empty: it did not
	// Rows are those that were ever used, or retired; the others are free.
	Rows []Worker
	// Counts by state: held, resting, free, retired; of the workers of proxies.
	Counts map[string]int
	Opens  time.Time // when the gate opens; zero: it is open
	// FunctionAhead is how far the IDs of the function in the lease database are ahead of its clock; 0: they are not.
	FunctionAhead time.Duration
}

// Worker is one row.
type Worker struct {
	Number int
	// State is mine, held, resting (not free before its mark or quarantine has passed), free, retired, or function.
	State                  string
	Node, Address, Version string         // of the holder, present or last; may be empty
	Left                   *time.Duration // from the database's now to its mark; negative: passed; nil: not known
	Term                   int64
	Acquired, Renewed      time.Time // zero: never
	Released, Retired      time.Time // zero: it was not
}

// Tenure is one acquisition of a worker.
type Tenure struct {
	Term                        int64
	Node, Address, Version      string
	Acquired, Renewed, Released time.Time // zero: not, or not known
	Until                       time.Time // its mark: no ID of this tenure has a later time; zero: not known
}

// Decoded is what is in an ID.
type Decoded struct {
	ID         int64
	Base32     string    // the ID as text
	Time       time.Time // the start of its tick; zero: an old key, which says none
	Datacenter *int      // nil: the layout has none
	Worker     int
	Sequence   int
	Function   bool // the worker is one of databases' functions
}

// Answers is what was answered from memory, and what could not be.
type Answers struct {
	IDs      int64            // given
	Numbers  int64            // of tags, given
	ByKind   map[string]int64 // statements answered: snowflake, snowflakes, segment
	Declined map[string]int64 // forwarded for want of IDs: no_lease, mark, tick_full, not_answerable, timeout
	Waits    histogram.Snapshot
}

// Sessions is the clients' side.
type Sessions struct {
	Open     map[string]int // login, idle, in_transaction, failed
	Limit    int            // of all together; 0: none
	Full     bool           // one more would be turned away
	Closed   map[string]int64
	Logins   map[string]int64 // by result
	LoginsIn histogram.Snapshot
	// Relayed bytes, by direction: to_upstream, to_client.
	Relayed map[string]int64
	Cancels map[string]int64 // by result
}

// IDDatabase is the database whose sessions need no PostgreSQL. The zero value: there is none.
type IDDatabase struct {
	Name     string
	Open     map[string]int   // login, idle, in_transaction, failed
	Limit    int              // of those that have logged in; 0: none
	Full     bool             // one more would be turned away
	Closed   map[string]int64 // by reason
	Logins   map[string]int64 // by result: ok, password, attempts, limit, unready, refused, left
	LoginsIn histogram.Snapshot
	IDs      int64            // given
	Numbers  int64            // of tags, given
	ByKind   map[string]int64 // statements that gave some: snowflake, snowflakes, segment
	Refused  map[string]int64 // statements that were answered by an error, by reason: no_ids, not_supported, other
	Accounts Accounts
	// Hides is the database whose server has a real one of the name, which nobody reaches; empty: there is none.
	Hides string
}

// Sessions is how many have logged in.
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
	Needed  bool // false: everybody may, and nothing is read
	Count   int
	Read    time.Time     // when what is used was read; zero: not yet
	From    string        // a file, or the table
	File    bool          // it is a file
	MaxAge  time.Duration // at which logins stop; 0: they do not
	Problem string        // why the last reading failed; empty: it did not
	Hint    string        // what to do; may be empty
}

// Upstreams is the other side.
type Upstreams struct {
	Connects   map[string]int64 // by result
	ConnectsIn histogram.Snapshot
	// Hosts are those of which only the primary gets connections; nil: each gets some.
	Hosts []UpstreamHost
	Since time.Time // that the present primary is known; zero: none is
	Found int64     // primaries, one after the other
}

// UpstreamHost is one of several servers behind the proxy.
type UpstreamHost struct {
	Name    string
	Primary bool      // connections go to it
	Says    string    // what it said last
	Trouble string    // what is wrong with that; empty: nothing
	Heard   time.Time // its last answer; zero: none
}

// Database is one whose sessions are answered.
type Database struct {
	Name        string
	IDs         string // all, qualified (only calls with their schema), none
	IDsWhy      string // why not all; may be empty
	IDsHint     string
	Segments    string // all, qualified, none
	SegmentsWhy string
	Judged      time.Time // the last look that judged it; zero: none
}

// Segment is one tag of one database.
type Segment struct {
	Database, Tag        string
	Left, Given, Skipped int64 // numbers: in memory, given, lost to this process
	Fetches, Unknown     int64 // fetches, and those whose outcome is not known
}

// Certificate is one in a file.
type Certificate struct {
	File  string
	Until time.Time
}
