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
	// worker. The error that wraps it tells the values.
	ErrGrantEnded = errors.New("the grant has ended")

	// ErrSealed: Seal was called. There will be no ID any more.
	ErrSealed = errors.New("the generator is sealed")

	// ErrEndOfTime: the timestamp bits of the layout are used up. There will be no ID any more; only another layout, in
	// another namespace, helps.
	ErrEndOfTime = errors.New("the timestamp bits of the layout are used up")
)

// grantEnded says which grant has ended. It is an ErrGrantEnded.
type grantEnded struct {
	worker int   // of the grant
	until  int64 // tick at which the grant ended, exclusive
	tick   int64 // tick the next ID would have had: that of the clock, or one at most 5 before it
}

func (e *grantEnded) Error() string {
	return fmt.Sprintf("%v: worker %d may be used before tick %d, the next ID would have tick %d",
		ErrGrantEnded, e.worker, e.until, e.tick)
}

func (e *grantEnded) Unwrap() error { return ErrGrantEnded }
