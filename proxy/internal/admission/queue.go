package admission

import (
	"slices"
	"sync"
	"time"
)

// queue has those who wait for something, the first in front. The lock that the caller holds guards it.
type queue []chan struct{}

// wait waits until it is the caller's turn, until the time is over or until call is closed, and does not hold mu
// meanwhile. call may be nil.
func (q *queue) wait(mu *sync.Mutex, most time.Duration, call <-chan struct{}) {
	turn, timer := make(chan struct{}), time.NewTimer(most)
	*q = append(*q, turn)
	mu.Unlock()
	select {
	case <-turn:
	case <-timer.C:
	case <-call:
	}
	timer.Stop()
	mu.Lock()
	if i := slices.Index(*q, turn); i >= 0 {
		*q = slices.Delete(*q, i, i+1)
	}
}

// wake lets the first one go on.
func (q *queue) wake() {
	if len(*q) > 0 {
		close((*q)[0])
		*q = slices.Delete(*q, 0, 1)
	}
}
