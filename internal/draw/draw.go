package draw

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Portion is how many IDs a turn gives at most.
const Portion = 256

// ErrLate means that the IDs of a draw did not come in time, or would not. It is a context.DeadlineExceeded.
var ErrLate = fmt.Errorf("no ID came in time: %w", context.DeadlineExceeded)

// Source gives unique IDs from memory; the generator satisfies it. Both methods are called concurrently. An error means
// that there are none for now.
type Source interface {
	// TryNextN takes a run of up to n IDs, first … first+count-1. A later run has larger IDs. A count of 0 without an
	// error means that there is none at this moment, but will be soon.
	TryNextN(n int) (first int64, count int, err error)
	// NextN does the same, but waits for at least one ID.
	NextN(ctx context.Context, n int) (first int64, count int, err error)
}

// Room shares out the IDs of a source. Its methods are safe for concurrent use.
type Room struct {
	source  Source
	has     func(time.Duration) int
	serving atomic.Bool // written under mu: draws wait, and a goroutine serves them

	mu    sync.Mutex
	lanes [kinds]list.List   // of *waiter
	last  kind               // which of portion and reservation had the last turn
	owed  int                // IDs of reservations that are not drawn yet
	stop  context.CancelFunc // of the goroutine that serves
}

// New makes a room. has says how many IDs the source has in a time; nil: any number.
func New(source Source, has func(time.Duration) int) *Room {
	return &Room{source: source, has: has, last: reservation}
}

// Draw takes n IDs into to, in place of what that had: all of them, or none and an error. It waits for them as long as
// patience, or until ctx ends. It returns how long it has waited; 0: not at all.
func (r *Room) Draw(ctx context.Context, patience time.Duration, n int, to *Runs) (waited time.Duration, err error) {
	to.Reset()
	if n > Portion && !r.reserve(n, patience) {
		return 0, ErrLate
	}
	left, err := r.atOnce(n, to)
	switch {
	case left > 0 && err == nil:
		began := time.Now()
		err = r.wait(ctx, patience, &waiter{kind: kindOf(n), n: n, left: left, to: to, done: make(chan error, 1)})
		waited = time.Since(began)
	case n > Portion:
		r.fulfil(n)
	}
	if err != nil {
		to.Reset()
	}
	return waited, err
}

// atOnce takes what it can have without waiting. It returns how many IDs are left to draw.
func (r *Room) atOnce(n int, to *Runs) (left int, err error) {
	for left = n; left > 0 && (n == 1 || !r.serving.Load()); {
		first, count, err := r.source.TryNextN(min(left, Portion))
		if count == 0 || err != nil {
			return left, err
		}
		to.Add(first, count)
		left -= count
	}
	return left, nil
}
