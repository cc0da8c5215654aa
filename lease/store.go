package lease

import "context"

// Store is the worker table as a keeper sees it: three conditional writes.
//
// An error of type *Refusal (Acquire, and Renew in a copy), *Lost (Renew), or one that wraps ErrNamespaceMismatch or
// ErrElsewhere, is a clean answer of the database. Every other error means that the outcome is unknown: the write may
// have happened, may not have, or may still happen.
//
// A Store is used by one goroutine. Every call ends when its context does.
type Store interface {
	// Acquire takes any free worker.
	Acquire(context.Context, Request) (Acquired, error)
	// Renew raises the mark of a lease.
	Renew(context.Context, Renewal) (Renewed, error)
	// Release gives a lease back. Its mark stays, and is at least acknowledged (ticks), whatever the row has forgotten.
	// The issuer must be sealed. A lease that is already lost is not an error.
	Release(ctx context.Context, l Lease, acknowledged int64) error
	// Close ends the connection, if there is one. A later call opens another.
	Close()
}
