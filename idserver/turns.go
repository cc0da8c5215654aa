package idserver

import (
	"context"
	"sync/atomic"
)

// turns are how those take turns who draw more IDs than there are. Where a tick is full, whoever wants one waits in a
// queue, and gets a portion when it is its turn; for another one it waits at the end again. Who draws a single ID looks
// first whether there is one, so it waits for nobody who draws many.
type turns struct {
	one    chan struct{} // has something in it while it is somebody's turn; Go lets those who wait in as they came
	queued atomic.Int32  // who waits, or has the turn
}

func newTurns() turns { return turns{one: make(chan struct{}, 1)} }

// free says that nobody waits.
func (t *turns) free() bool { return t.queued.Load() == 0 }

// take waits for a turn.
func (t *turns) take(ctx context.Context) error {
	t.queued.Add(1)
	select {
	case t.one <- struct{}{}:
		return nil
	case <-ctx.Done():
		t.queued.Add(-1)
		return ctx.Err()
	}
}

// give gives it to the next one.
func (t *turns) give() {
	<-t.one
	t.queued.Add(-1)
}
