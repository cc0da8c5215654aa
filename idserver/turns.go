package idserver

import (
	"context"
	"sync/atomic"
)

// turns is the queue of clients that want more IDs than there are. In a full tick they wait in this queue. At its turn
// a client gets one portion; for more it waits at the end again. A client that draws a single ID first tries without
// the queue. So it does not wait for clients that draw many.
type turns struct {
	one    chan struct{} // has an element during a turn; Go serves the waiters in order
	queued atomic.Int32  // clients that wait or have the turn
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

// give passes the turn on to the next one.
func (t *turns) give() {
	<-t.one
	t.queued.Add(-1)
}
