package fresh

import (
	"context"
	"math/rand/v2"
	"time"
)

// Rest returns after d, when ctx ends, or when woken is closed or sends. It says whether woken did.
func Rest(ctx context.Context, d time.Duration, woken <-chan struct{}) bool {
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

// About is d and up to a tenth more, at random: many processes that begin together do not ask together for long.
func About(d time.Duration) time.Duration { return d + rand.N(d/10+1) }
