package node

import (
	"context"
	"time"

	"pgflurry/internal/lease"
)

// clock is how this process reads its machine's clocks. wall only dates log lines and warnings. The time in IDs is the
// database's: monotonic measures what has passed since the database gave it (lease.Clock).
type clock struct {
	wall      func() time.Time
	monotonic func() time.Duration             // since an arbitrary moment
	ids       func(time.Duration) *lease.Clock // clock of IDs, over monotonic; takes the length of a tick
	follow    func(context.Context)            // runs until the context ends; a steered clock reads its file
}

// ownClock is the clock of every program except those that are built for tests: see clock_steered.go.
func ownClock() clock {
	start := time.Now() // carries a monotonic reading
	return clock{
		wall:      time.Now,
		monotonic: func() time.Duration { return time.Since(start) },
		ids:       lease.NewClock, // it reads the process's clock itself: one call less for each ID
		follow:    func(context.Context) {},
	}
}
