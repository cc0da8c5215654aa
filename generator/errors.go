package generator

import (
	"errors"
	"fmt"
)

// Why there is no ID. Compare with errors.Is.
var (
	// ErrNoGrant: Grant has not been called yet. Draw again when the lease has a worker.
	ErrNoGrant = errors.New("no worker is granted yet")

	// ErrGrantEnded: the clock has reached the end of the grant. Draw again when the lease is renewed, or has another
	// worker. The error that wraps it is a *GrantEnded, which knows the values.
	ErrGrantEnded = errors.New("the grant has ended")

	// ErrSealed: Seal was called. There will be no ID any more.
	ErrSealed = errors.New("the generator is sealed")

	// ErrEndOfTime: the timestamp bits of the layout are used up. There will be no ID any more; only another layout, in
	// another namespace, helps.
	ErrEndOfTime = errors.New("the timestamp bits of the layout are used up")
)

// GrantEnded says which grant has ended. It is an ErrGrantEnded.
type GrantEnded struct {
	Worker int   // of the grant
	Until  int64 // tick at which the grant ended, exclusive
	Tick   int64 // tick the next ID would have had: that of the clock, or one at most 5 before it
}

func (e *GrantEnded) Error() string {
	return fmt.Sprintf("%v: worker %d may be used before tick %d, the next ID would have tick %d", ErrGrantEnded, e.Worker, e.Until, e.Tick)
}

// Unwrap makes errors.Is(err, ErrGrantEnded) true.
func (e *GrantEnded) Unwrap() error { return ErrGrantEnded }
