package report

import "time"

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
	// Reloaded is when the configuration was last read without an error. NotReloaded is why a later one was refused;
	// empty: none was.
	Reloaded    time.Time
	NotReloaded string
}

// Namespace is the ID space. The zero value: not read yet.
type Namespace struct {
	ID        string    // UUID
	Layout    string    // such as 41/0/10/12
	End       time.Time // of its timestamps
	Region    *int      // region of the lease database; nil: the ID space has no regions
	Lowest    int       // the first worker
	Workers   int       // how many there are from Lowest on, those of functions included
	Functions Spans     // those that belong to functions of databases
}

// Past is the first number after the workers.
func (n Namespace) Past() int { return n.Lowest + n.Workers }

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

// Database is a listed database.
type Database struct {
	Name        string
	IDs         string // all, qualified (only calls with their schema), none
	IDsWhy      string // why not all; may be empty
	IDsHint     string
	Segments    string // all, qualified, none
	SegmentsWhy string
	Judged      time.Time // time of the last look that judged it; zero: none
	Found       time.Time // time of the last look that found a PostgreSQL, whatever that said; zero: none
	Away        string    // why the last look found no PostgreSQL; empty: it found one, or there was no look yet
	NewServer   string    // why its server is not known, so it may be a copy; empty: it is known
	// the worker of its function is no function's by the row of the lease database, or is the proxy's own
	WorkerConflict bool
}

// Segment is one tag of one database, since it was first used.
type Segment struct {
	Database, Tag string
	Left          int64 // numbers in memory
	Given         int64 // numbers
	Skipped       int64 // numbers that this process reserved and will never give
	Fetches       int64 // of blocks, with those of an unknown outcome
	Unknown       int64 // fetches of unknown outcome: each may have skipped a block
	Size          int64 // of the next fetch
}

// Certificate is one certificate of a file.
type Certificate struct {
	File  string
	Until time.Time
}
