package migrations

import (
	"slices"
	"time"

	"pgflurry/internal/namespace"
)

// A State is the result of Status.
type State struct {
	Database   string
	Migrations []Applied
	Namespace  *namespace.Namespace // nil: none yet
	Copied     string               // why this is a copy of another database; "": it is not
	Joined     []Joined             // in a home: the databases that have joined
	// GateOpens is the time until this home grants workers again, after a failover, restore or reseed; 0: it grants.
	GateOpens time.Duration
	// Restart is how long this home grants no worker after a start of its server; 0: a restart keeps none back.
	Restart time.Duration
	// Settles is the time until this home grants workers again after the start of its server; 0: it grants.
	Settles time.Duration
	Proxies int // that hold a worker of this home
	// JoinsClosed: no other database can join this home, because it may have forgotten one that did.
	JoinsClosed bool
	// roles that may set the function's sequences, or draw from them, and so can cause duplicates
	Drawers []string
	Newer   error         // the schema is newer than this program, which cannot judge it; nil: it is not
	Left    time.Duration // time to the end of the layout, by the server's clock; at most 292 years
	// Public says which functions have a name in public: sqlfuncs.Snowflake or All; "": nobody has chosen yet.
	Public    string
	Functions []Function // functions that differ from this version's; empty: none
	Kept      []Kept     // names of pgflurry's that another function has: no alias in public
	Unchecked string     // why the functions could not be compared; "": they were
	// unlogged sequences that a failover left unreadable, so that the function fails; an Up recreates them
	Unreadable []string
	Closed     bool     // "pgflurry namespace close" has closed it for good
	WeakGuards string   // guards that are missing or do not hold in every session; "": none. An Up mends them
	LockTables []string // locks of the function that are no views
	GateBy     string   // who closed the gate last; "": not known
	// Elsewhere is where proxies answer that may be those of the original, if the server is not known
	// (namespace.Elsewhere).
	Elsewhere []string
}

// An Applied is one migration of this version.
type Applied struct {
	Version int       `json:"number"`
	Name    string    `json:"name"` // of its file
	At      time.Time `json:"-"`    // zero: pending
}

// A Function is a function that differs from this version's.
type Function struct {
	Name string `json:"name"` // with the types of its arguments
	// "missing" or "changed": an Up repairs it; "foreign": not pgflurry's, and an Up refuses until it is gone
	State string `json:"state"`
}

// A Kept is a name that is not pgflurry's in public. Call pgflurry's function of that name with schema pgflurry.
type Kept struct {
	Name  string `json:"name"`  // without arguments
	Other string `json:"other"` // a function that has it, with the types of its arguments
}

// Joined is a database that has joined, from its claim in the home.
type Joined struct {
	Database string    `json:"database"`
	Worker   int       `json:"worker"`
	Address  string    `json:"address"` // host:port/name from which it was claimed
	Since    time.Time `json:"-"`
}

// Pending reports whether an Up has anything to do.
func (s State) Pending() bool {
	return s.Namespace == nil || len(s.Functions) > 0 || len(s.Unreadable) > 0 || s.WeakGuards != "" ||
		slices.ContainsFunc(s.Migrations, func(a Applied) bool { return a.At.IsZero() })
}

// InPlace reports whether everything is known to be as this version needs it.
func (s State) InPlace() bool {
	return !s.Pending() && s.Copied == "" && !s.Closed && len(s.LockTables) == 0 && s.Unchecked == "" && s.Newer == nil
}
