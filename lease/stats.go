package lease

import (
	"time"

	"pgflurry/histogram"
)

// Stats is how a keeper stands.
type Stats struct {
	Held   bool          // a lease is in hand
	Last   Grant         // what the issuer has; Until is 0 before the first
	Left   time.Duration // from now to the end of that, by the database's clock; 0: it has ended
	Term   int64
	Clean  time.Duration // monotonic time of the last clean acknowledgement; 0: none
	Cause  error         // of the last failure; nil while all is well
	Opens  time.Duration // monotonic time when the gate opens or the next worker is free; 0: not known
	Ahead  time.Duration // how far IDs are ahead of the database's clock; 0: they are not
	Micros int64         // the database's clock at Clean, microseconds since the epoch
	Trip   time.Duration // how long that answer took
	Slowed bool          // the clock of IDs runs at 9/10 speed

	Renewals         map[string]int64 // by result: ok, unknown, refused, lost
	Acquisitions     map[string]int64 // by result: ok, unknown, refused
	RenewalDurations histogram.Snapshot
}
