package draw

import (
	"container/list"
	"context"
	"errors"
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

// ErrNoSource means that nobody has supplied the queue yet.
var ErrNoSource = errors.New("there is no source of IDs yet")

// supply is a source. has says how many IDs it has in a time.
type supply struct {
	Source
	has func(time.Duration) int
}

// Queue shares out the IDs of a source. Its methods are safe for concurrent use.
type Queue struct {
	supply  atomic.Pointer[supply]
	serving atomic.Bool // written under mu: draws wait, and a goroutine serves them

	mu      sync.Mutex
	waiting [kinds]list.List   // of *waiter
	last    kind               // which of portion and reservation had the last turn
	owed    int                // IDs of reservations that are not drawn yet
	stop    context.CancelFunc // of the goroutine that serves
}

// New makes a queue with a source. has says how many IDs the source has in a time; nil: any number.
func New(source Source, has func(time.Duration) int) *Queue {
	q := NewLate()
	q.Supply(source, has)
	return q
}

// NewLate makes a queue that gives no IDs before Supply.
func NewLate() *Queue { return &Queue{last: reservation} }

// Supply gives the queue its source, once. has says how many IDs the source has in a time; nil: any number.
func (q *Queue) Supply(source Source, has func(time.Duration) int) {
	q.supply.Store(&supply{source, has})
}

// Draw takes n IDs into to, in place of what that had: all of them, or none and an error. It waits for them as long as
// patience, or until ctx ends. It returns how long it has waited; 0: not at all.
func (q *Queue) Draw(ctx context.Context, patience time.Duration, n int, to *Runs) (waited time.Duration, err error) {
	to.Reset()
	from := q.supply.Load()
	if from == nil {
		return 0, ErrNoSource
	}
	if n > Portion && !q.reserve(from.has, n, patience) {
		return 0, ErrLate
	}
	left, err := q.atOnce(from.Source, n, n == 1, to)
	switch {
	case left > 0 && err == nil:
		began := time.Now()
		err = q.wait(ctx, patience, &waiter{kind: kindOf(n), n: n, left: left, to: to, done: make(chan error, 1)})
		waited = time.Since(began)
	case n > Portion:
		q.fulfil(n)
	}
	if err != nil {
		to.Reset()
	}
	return waited, err
}

// atOnce takes what it can have without waiting. ahead: also while others wait. It returns how many IDs are left to
// draw.
func (q *Queue) atOnce(from Source, n int, ahead bool, to *Runs) (left int, err error) {
	for left = n; left > 0 && (ahead || !q.serving.Load()); {
		first, count, err := from.TryNextN(min(left, Portion))
		if count == 0 || err != nil {
			return left, err
		}
		to.Add(first, count)
		left -= count
	}
	return left, nil
}
