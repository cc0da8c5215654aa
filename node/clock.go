package node

import (
	"context"
	"log/slog"
	"time"

	"pgflurry/lease"
)

// clock is how this process reads its machine's clocks. wall dates log lines and warnings and nothing else. The time in
// IDs is the database's; monotonic measures what has passed since the database gave it (lease.Clock).
type clock struct {
	wall      func() time.Time
	monotonic func() time.Duration             // since an arbitrary moment
	ids       func(time.Duration) *lease.Clock // of IDs, over monotonic; takes the length of a tick
	dated     func(slog.Handler) slog.Handler  // a handler whose lines carry wall's time
	follow    func(context.Context)            // keeps it as it should be until the context ends
}

// ownClock is the clock of every program but those that are built for tests: see clock_steered.go.
func ownClock() clock {
	start := time.Now() // carries a monotonic reading
	return clock{
		wall:      time.Now,
		monotonic: func() time.Duration { return time.Since(start) },
		ids:       lease.NewClock, // which reads the process's own by itself: a call less for each ID
		dated:     func(h slog.Handler) slog.Handler { return h },
		follow:    func(context.Context) {},
	}
}
