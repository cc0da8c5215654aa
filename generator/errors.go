package generator

import (
	"errors"
	"fmt"
)

// The reasons why a draw gives no ID. Compare with errors.Is.
var (
	// ErrNoGrant: Grant has not been called yet. Draw again when the lease has a worker.
	ErrNoGrant = errors.New("no worker is granted yet")

	// ErrGrantEnded: the clock has reached the end of the grant. Draw again when the lease is renewed, or has another
	// worker. The error that wraps it has the values.
	ErrGrantEnded = errors.New("the grant has ended")

	// ErrSealed: Seal was called. The generator gives no IDs any more.
	ErrSealed = errors.New("the generator is sealed")

	// ErrEndOfTime: the timestamp bits of the layout are used up, so there are no IDs any more. Only a new namespace
	// with another layout helps.
	ErrEndOfTime = errors.New("the timestamp bits of the layout are used up")
)

// grantEnded is the ErrGrantEnded of one grant.
type grantEnded struct {
	worker int   // of the grant
	until  int64 // tick at which the grant ended, exclusive
	tick   int64 // tick that the next ID would have: the clock's, or up to 5 earlier
}

func (e *grantEnded) Error() string {
	return fmt.Sprintf("%v: worker %d may be used before tick %d, the next ID would have tick %d",
		ErrGrantEnded, e.worker, e.until, e.tick)
}

func (e *grantEnded) Unwrap() error { return ErrGrantEnded }
