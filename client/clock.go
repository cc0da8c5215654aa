package client

import "time"

// reading is one look at both clocks.
type reading struct {
	monotonic time.Duration // since the pool was made; it may stand still while the machine sleeps
	wall      time.Time     // may be set by hand
}

// clock returns a function that reads both clocks of the machine.
func clock() func() reading {
	start := time.Now()
	return func() reading {
		now := time.Now()
		return reading{monotonic: now.Sub(start), wall: now.Round(0)}
	}
}

// since returns the time between two readings, by the clock that shows more. For a wall clock that was set back, it
// counts how far.
func (r reading) since(earlier reading) time.Duration {
	return max(r.monotonic-earlier.monotonic, r.wall.Sub(earlier.wall).Abs())
}
