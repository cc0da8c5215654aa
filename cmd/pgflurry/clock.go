package main

import (
	"log/slog"
	"time"

	"pgflurry/lease"
)

// nodeClock is how this process reads its machine's clocks. wall dates log lines and warnings and nothing else: the time in IDs is
// the database's, and monotonic measures what has passed since it was told (lease.Clock).
type nodeClock struct {
	wall      func() time.Time
	monotonic func() time.Duration             // since an arbitrary moment
	ids       func(time.Duration) *lease.Clock // of IDs, over monotonic; takes the length of a tick
	dated     func(slog.Handler) slog.Handler  // a handler whose lines carry wall's time
}

// ownClock is the clock of every program but those that are built for tests: see clock_steered.go.
func ownClock() nodeClock {
	start := time.Now() // carries a monotonic reading
	return nodeClock{
		wall:      time.Now,
		monotonic: func() time.Duration { return time.Since(start) },
		ids:       lease.NewClock, // which reads the process's own by itself: a call less for each ID
		dated:     func(h slog.Handler) slog.Handler { return h },
	}
}
