package report

import (
	"sync"
	"time"
)

// A Recent is a value that is expensive, and that many ask for. It is made when somebody asks, and at most once in its
// time. All who wait for it meanwhile get the same one. Its methods are safe for concurrent use.
type Recent[T any] struct {
	every time.Duration
	make  func() T

	mu    sync.Mutex
	began time.Time // when it was made last; zero: never
	last  T
}

// NewRecent returns a Recent that is made at most once in every. make makes it.
func NewRecent[T any](every time.Duration, make func() T) *Recent[T] {
	return &Recent[T]{every: every, make: make}
}

// Get returns a value that is not older than its time. Nobody may change it.
func (v *Recent[T]) Get() T {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.began.IsZero() || time.Since(v.began) >= v.every {
		v.makeLocked()
	}
	return v.last
}

// Anew returns a value that was made after the call. It waits until one may be made.
func (v *Recent[T]) Anew() T {
	asked := time.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.began.After(asked) {
		time.Sleep(v.every - time.Since(v.began))
		v.makeLocked()
	}
	return v.last
}

func (v *Recent[T]) makeLocked() {
	v.began = time.Now()
	v.last = v.make()
}
