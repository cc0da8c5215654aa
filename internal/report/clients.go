package report

import (
	"time"
)

// Answers counts what was answered from memory, and what could not be.
type Answers struct {
	IDs     int64 // given
	Numbers int64 // of tags, given
	// ByKind are the statements that gave them, by form. A snowflake is one row. snowflakes are several rows, or as
	// many as a parameter says. A segment is numbers of a tag.
	ByKind map[string]int64
	// Declined are statements that went to PostgreSQL because memory had nothing for them, by reason: no_lease,
	// grant_ended, tick_full, not_answerable, timeout.
	Declined map[string]int64
	// Waits is how long answers waited for their IDs and numbers. Most do not wait: the first bucket counts those. Each
	// statement counts once. All statements of a batch wait together.
	Waits Snapshot
}

// Sessions counts the clients.
type Sessions struct {
	Now    int   // that have reached upstream
	Opened int64 // that ever did; those of Closed and Now add up to it
	// Open has the connections of clients by what they do; IDDatabase has its own. --max-connections limits those that
	// have a connection to upstream.
	//
	//	login           accepted, before its first ReadyForQuery; includes cancel requests
	//	idle            outside a transaction, and upstream owes nothing
	//	in_transaction  inside a transaction block, or upstream is at work, which is a transaction of its own
	//	failed          inside a transaction block that failed
	//
	// For a session that only relays, nobody knows what is owed; there its last ReadyForQuery decides.
	Open map[string]int
	// Limit is how many sessions may be open; 0: no limit. Full says that all places are taken. Then a newcomer is
	// turned away, unless a session that has not logged in gives way to it.
	Limit      int
	Full       bool
	TurnedAway int64 // connections that a limit closed: at once, or before they had logged in
	// Closed are sessions that ended, by the reason that came first.
	Closed map[string]int64
	// Logins are connections that asked for a session, by outcome: ok is the first ReadyForQuery, refused is
	// PostgreSQL's refusal, failed is everything else. A client that leaves without a byte has asked for nothing.
	Logins map[string]int64
	// LoginsIn is how long logins took, from accept to the first ReadyForQuery, with the time that the client takes.
	LoginsIn Snapshot
	// Relayed are bytes of sessions, without those of TLS, by direction: to_upstream, to_client. The latter includes
	// the proxy's own replies.
	Relayed map[string]int64
	// Cancels are cancel requests: passed on, failed, or dropped because there were too many.
	Cancels map[string]int64
}

// IDDatabase is the database whose sessions need no PostgreSQL. The zero value: there is none.
type IDDatabase struct {
	Name   string
	Opened int64          // sessions that ever logged in; those of Closed and the present ones add up to it
	Open   map[string]int // login, idle, in_transaction, failed
	Limit  int            // of those that have logged in; 0: no limit
	Full   bool           // a further one would be turned away
	Closed map[string]int64
	// Logins are clients that asked for a session, by outcome:
	//
	//	ok         the first ReadyForQuery
	//	password   a wrong password, or a name without one: a client cannot tell these apart; or a certificate that
	//	           does not name the user
	//	attempts   too many wrong passwords before
	//	limit      a limit on sessions, of all or of the account
	//	unready    the accounts were never read, or too long ago
	//	refused    every other error that a client reads
	//	left       the client left before it read an error, or the login timeout ended it
	Logins map[string]int64
	// LoginsIn is how long logins took, from the startup packet to the first ReadyForQuery, with the time that the
	// client takes.
	LoginsIn Snapshot
	IDs      int64 // given
	Numbers  int64 // of tags, given
	// ByKind are the statements that gave them, by form, as in Answers.
	ByKind   map[string]int64
	Refused  map[string]int64 // statements that got an ERROR: no_ids, not_supported, other
	ToClient int64            // bytes, without those of TLS
	Accounts Accounts
	// Hides is a listed database whose server has a real database of that name, which clients cannot reach; empty:
	// none.
	Hides string
}

// Sessions is how many clients have logged in.
func (d IDDatabase) Sessions() int { return Total(d.Open) - d.Open["login"] }

// Total adds up counts.
func Total[N int | int64](by map[string]N) (all N) {
	for _, n := range by {
		all += n
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
	// Connects are attempts to reach upstream for a session, ok or failed, including the TLS handshake. ConnectsIn has
	// the durations of those that succeeded.
	Connects   map[string]int64
	ConnectsIn Snapshot
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
