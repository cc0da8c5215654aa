package report

import (
	"time"

	"pgflurry/histogram"
)

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
