package inprocess

import "sync/atomic"

// news wakes all who wait. Its methods are safe for concurrent use.
type news struct {
	ahead atomic.Pointer[chan struct{}] // closed with the next news
}

func (n *news) begin() {
	next := make(chan struct{})
	n.ahead.Store(&next)
}

// next is closed with the next news. Who takes it before a look misses none.
func (n *news) next() <-chan struct{} { return *n.ahead.Load() }

func (n *news) notify() {
	next := make(chan struct{})
	close(*n.ahead.Swap(&next))
}
