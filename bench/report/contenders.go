package report

// Contenders that others are compared with, by the columns of a table and between two runs.
const (
	Direct    = "direct" // PostgreSQL, with nothing in front
	PgBouncer = "PgBouncer"
	Nextval   = "nextval"
	Redis     = "Redis INCR"
	// ClockReading is one reading of the monotonic clock, without which no ID that carries the time can be made. All
	// that runs in process is compared with it.
	ClockReading = "one reading of the clock"
)
