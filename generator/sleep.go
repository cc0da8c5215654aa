package generator

import (
	"context"
	"sync"
	"time"
)

// sleeper waits with timers that it reuses, so that a generator at its limit makes no garbage.
type sleeper struct{ timers sync.Pool }

// wait returns nil after d, or the context's error as soon as ctx ends.
func (s *sleeper) wait(ctx context.Context, d time.Duration) error {
	timer, ok := s.timers.Get().(*time.Timer)
	if ok {
		timer.Reset(d) // Reset also empties the channel (since Go 1.23)
	} else {
		timer = time.NewTimer(d)
	}
	defer s.timers.Put(timer)
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
