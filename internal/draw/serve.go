package draw

import (
	"container/list"
	"context"
	"math"
	"time"
)

// standstill is how long a begun reservation waits. A source that gives IDs fills it much sooner.
const standstill = time.Second

// kind is the kind of a draw. Each has a lane for those that wait.
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

// waiter is a draw that waits. The room's lock guards it until it is done.
type waiter struct {
	kind    kind
	n, left int           // IDs wanted, and those not drawn yet
	to      *Runs         // what was drawn
	done    chan error    // has room for the one result
	at      *list.Element // in its lane; nil: it waits no more
}

// wait waits until the draw is done, or gives it up.
func (r *Room) wait(ctx context.Context, patience time.Duration, w *waiter) error {
	late := time.NewTimer(patience)
	defer late.Stop()
	r.enter(w)
	for begun := false; ; {
		select {
		case err := <-w.done:
			return err
		case <-late.C:
			if r.leave(w, begun) {
				return ErrLate
			}
			begun = true
			late.Reset(standstill)
		case <-ctx.Done():
			if r.leave(w, true) {
				return ErrLate
			}
			return <-w.done
		}
	}
}

// enter lets a draw wait.
func (r *Room) enter(w *waiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w.at = r.lanes[w.kind].PushBack(w)
	if w.kind == reservation {
		r.owed -= w.n - w.left // what it had at once
	}
	if !r.serving.Load() {
		r.serving.Store(true)
		var ctx context.Context
		ctx, r.stop = context.WithCancel(context.Background())
		go r.serve(ctx)
	}
}

// leave gives up a draw that waits. It returns false if the draw is done, or if a reservation was begun and begun is
// false.
func (r *Room) leave(w *waiter, begun bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.at == nil || !begun && w.n-w.left >= Portion {
		return false
	}
	r.remove(w)
	if r.lanes[one].Len()+r.lanes[portion].Len()+r.lanes[reservation].Len() == 0 {
		r.rest()
	}
	return true
}

func (r *Room) remove(w *waiter) {
	r.lanes[w.kind].Remove(w.at)
	w.at = nil
	if w.kind == reservation {
		r.owed -= w.left
	}
}

// rest ends the goroutine that serves, even if it waits for the source.
func (r *Room) rest() {
	r.serving.Store(false)
	r.stop()
}

// serve gives turns until nobody waits.
func (r *Room) serve(ctx context.Context) {
	for w := r.next(ctx); w != nil; w = r.next(ctx) {
		first, count, err := r.source.NextN(ctx, min(w.left, Portion))
		r.give(w, first, count, err)
	}
}

// next says who has the next turn. It returns nil if nobody waits, or if another goroutine serves now.
func (r *Room) next(ctx context.Context) *waiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return nil
	}
	first := one
	if r.lanes[one].Len() == 0 {
		first = portion + reservation - r.last // the other one
		if r.lanes[first].Len() == 0 {
			first = r.last
		}
		r.last = first
	}
	if at := r.lanes[first].Front(); at != nil {
		return at.Value.(*waiter)
	}
	r.rest()
	return nil
}

// give ends a turn. If the draw was given up meanwhile, its IDs are lost.
func (r *Room) give(w *waiter, first int64, count int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.at == nil {
		return
	}
	if err == nil {
		w.to.Add(first, count)
		w.left -= count
		if w.kind == reservation {
			r.owed -= count
		}
	}
	if w.left == 0 || err != nil {
		r.remove(w)
		w.done <- err
	}
}

// reserve counts a reservation if the source can fill it within patience, after all others.
func (r *Room) reserve(n int, patience time.Duration) bool {
	limit := math.MaxInt
	if r.has != nil {
		limit = r.has(patience)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if n > limit-r.owed {
		return false
	}
	r.owed += n
	return true
}

// fulfil is the end of a reservation that did not wait.
func (r *Room) fulfil(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owed -= n
}
