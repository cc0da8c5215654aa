package report

import (
	"time"
)

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
	RenewalDurations Snapshot
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
	// NewServer is why the server of the lease database is not known, so it may be a copy; empty: it is known.
	NewServer string
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
