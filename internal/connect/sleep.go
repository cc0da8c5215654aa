package connect

import (
	"context"
	"math/rand/v2"
	"time"
)

// Sleep returns after d, when ctx ends, or when woken is closed or sends. It says whether woken did.
func Sleep(ctx context.Context, d time.Duration, woken <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-woken:
		return true
	}
	return false
}

// Doubled is the pause after so many failures in a row, at least one. Each further failure doubles it, from the
// shortest up to the longest.
func Doubled(shortest, longest time.Duration, failures int) time.Duration {
	return min(shortest<<min(failures-1, 16), longest)
}

// About is d and up to a tenth more, at random: many processes that begin together do not ask together for long.
func About(d time.Duration) time.Duration { return d + rand.N(d/10+1) }
