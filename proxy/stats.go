package proxy

import "pgflurry/histogram"

// Stats counts since the proxy was made.
type Stats struct {
	Sessions int   // open now
	Opened   int64 // sessions that reached upstream
	// Open are the connections of clients by what they do: login, idle, in_transaction, failed.
	Open map[string]int
	// Limit is how many sessions may be open, and Full says that one more is turned away.
	Limit int
	Full  bool

	Answers int64            // statements answered from memory
	ByKind  map[string]int64 // the same by form: snowflake, snowflakes (several rows), segment
	IDs     int64            // IDs in them
	Numbers int64            // numbers of tags in them
	// Waits is how long answers waited for their IDs; most not at all.
	Waits histogram.Snapshot

	Declined int64 // statements that were forwarded because there were no IDs for them in time
	// DeclinedBy is the same by reason: what Settings.WhyNot says of the error, not_answerable, timeout.
	DeclinedBy map[string]int64
	// TurnedAway counts connections of clients that a limit closed: at once, or before they had logged in.
	TurnedAway int64

	Closed         map[string]int64 // sessions that ended, by reason
	Logins         map[string]int64 // ok, refused (by PostgreSQL), failed
	LoginDurations histogram.Snapshot
	Connects       map[string]int64 // to upstream: ok, failed
	ConnectTimes   histogram.Snapshot
	Cancels        map[string]int64 // passed, failed, dropped
	ToUpstream     int64            // bytes relayed
	ToClient       int64            // bytes relayed and answered
}
