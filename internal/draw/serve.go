package draw

import (
	"container/list"
	"context"
	"math"
	"time"
)

// standstill is how long a begun reservation waits. A source that gives IDs fills it much sooner.
const standstill = time.Second

// kind is the kind of a draw. Each has a queue of its own.
type kind int

const (
	one kind = iota
	portion
	reservation
	kinds
)

func kindOf(n int) kind {
	switch {
	case n == 1:
		return one
	case n <= Portion:
		return portion
	}
	return reservation
}

// waiter is a draw that waits. The queue's lock guards it until it is done.
type waiter struct {
	kind    kind
	n, left int           // IDs wanted, and those not drawn yet
	to      *Runs         // what was drawn
	done    chan error    // has room for the one result
	at      *list.Element // among its like; nil: it waits no more
}

// wait waits until the draw is done, or gives it up.
func (q *Queue) wait(ctx context.Context, patience time.Duration, w *waiter) error {
	late := time.NewTimer(patience)
	defer late.Stop()
	q.enter(w)
	for begun := false; ; {
		select {
		case err := <-w.done:
			return err
		case <-late.C:
			if q.leave(w, begun) {
				return q.lastTry(w)
			}
			begun = true
			late.Reset(standstill)
		case <-ctx.Done():
			if q.leave(w, true) {
				return ErrLate
			}
			return <-w.done
		}
	}
}

// lastTry takes what is there for a draw whose time is over. On a starved machine its turn did not come although there
// are IDs. So a draw is late only if the ticks hold no more.
func (q *Queue) lastTry(w *waiter) error {
	if w.kind == reservation {
		return ErrLate
	}
	left, err := q.atOnce(q.supply.Load().Source, w.left, true, w.to)
	if left > 0 && err == nil {
		err = ErrLate
	}
	return err
}

// enter lets a draw wait.
func (q *Queue) enter(w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w.at = q.waiting[w.kind].PushBack(w)
	if w.kind == reservation {
		q.owed -= w.n - w.left // what it had at once
	}
	if !q.serving.Load() {
		q.serving.Store(true)
		var ctx context.Context
		ctx, q.stop = context.WithCancel(context.Background())
		go q.serve(ctx)
	}
}

// leave gives up a draw that waits. It returns false if the draw is done, or if a reservation was begun and begun is
// false.
func (q *Queue) leave(w *waiter, begun bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.at == nil || !begun && w.n-w.left >= Portion {
		return false
	}
	q.remove(w)
	if q.waiting[one].Len()+q.waiting[portion].Len()+q.waiting[reservation].Len() == 0 {
		q.rest()
	}
	return true
}

func (q *Queue) remove(w *waiter) {
	q.waiting[w.kind].Remove(w.at)
	w.at = nil
	if w.kind == reservation {
		q.owed -= w.left
	}
}

// rest ends the goroutine that serves, even if it waits for the source.
func (q *Queue) rest() {
	q.serving.Store(false)
	q.stop()
}

// serve gives turns until nobody waits.
func (q *Queue) serve(ctx context.Context) {
	for w := q.next(ctx); w != nil; w = q.next(ctx) {
		first, count, err := q.supply.Load().NextN(ctx, min(w.left, Portion))
		q.give(w, first, count, err)
	}
}

// next says who has the next turn. It returns nil if nobody waits, or if another goroutine serves now.
func (q *Queue) next(ctx context.Context) *waiter {
	q.mu.Lock()
	defer q.mu.Unlock()
	if ctx.Err() != nil {
		return nil
	}
	order := [kinds]kind{one, portion, reservation}
	if q.last == portion {
		order = [kinds]kind{one, reservation, portion}
	}
	for _, k := range order {
		if at := q.waiting[k].Front(); at != nil {
			if k != one {
				q.last = k
			}
			return at.Value.(*waiter)
		}
	}
	q.rest()
	return nil
}

// give ends a turn. If the draw was given up meanwhile, its IDs are lost.
func (q *Queue) give(w *waiter, first int64, count int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.at == nil {
		return
	}
	if err == nil {
		w.to.Add(first, count)
		w.left -= count
		if w.kind == reservation {
			q.owed -= count
		}
	}
	if w.left == 0 || err != nil {
		q.remove(w)
		w.done <- err
	}
}

// reserve counts a reservation if the source can fill it within patience, after all others.
func (q *Queue) reserve(has func(time.Duration) int, n int, patience time.Duration) bool {
	limit := math.MaxInt
	if has != nil {
		limit = has(patience)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if n > limit-q.owed {
		return false
	}
	q.owed += n
	return true
}

// fulfil is the end of a reservation that did not wait.
func (q *Queue) fulfil(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.owed -= n
}
