// Package recent keeps values that are expensive to make and that many ask for.
package recent

import (
	"sync"
	"time"
)

// A Value is made when somebody asks, and at most once in its time. All who wait for it meanwhile get the same one. Its
// methods are safe for concurrent use.
type Value[T any] struct {
	every time.Duration
	make  func() T

	mu    sync.Mutex
	began time.Time // when it was made last; zero: never
	last  T
}

// New returns a Value that is made at most once in every. make makes it.
func New[T any](every time.Duration, make func() T) *Value[T] {
	return &Value[T]{every: every, make: make}
}

// Get returns a value that is not older than its time. Nobody may change it.
func (v *Value[T]) Get() T {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.began.IsZero() || time.Since(v.began) >= v.every {
		v.makeLocked()
	}
	return v.last
}

// Fresh returns a value that was made after the call. It waits until one may be made.
func (v *Value[T]) Fresh() T {
	asked := time.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.began.After(asked) {
		time.Sleep(v.every - time.Since(v.began))
		v.makeLocked()
	}
	return v.last
}

func (v *Value[T]) makeLocked() {
	v.began = time.Now()
	v.last = v.make()
}
