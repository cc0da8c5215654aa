package report

// Contenders that serve as a base for ratios.
const (
	Direct    = "direct" // PostgreSQL, with nothing in front
	PgBouncer = "PgBouncer"
	HAProxy   = "HAProxy"
	Nextval   = "nextval"
	Redis     = "Redis INCR"
	// Unlogged is nextval of a sequence whose draws never wait for the disk.
	Unlogged = "nextval, unlogged sequence"
	// Floor is nextval in a PL/pgSQL function with the rights of its owner, which does nothing else.
	Floor = "nextval in an empty function"
	// Least is the program in C that answers fixed bytes, with the fewest system calls.
	Least = "the least, in C"
	// ClockReading is one reading of the monotonic clock: no ID with a time can be made without one. It is the base for
	// everything in process.
	ClockReading = "one reading of the clock"
)
