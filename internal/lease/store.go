package lease

import "context"

// Store is the worker table as a keeper sees it: three conditional writes.
//
// Some errors are clean answers of the database. These are *Refusal (from Acquire, and from Renew in a copy), *Lost
// (from Renew), and errors that wrap ErrNamespaceMismatch or ErrElsewhere. Every other error means that the outcome is
// unknown: the write may have happened, may not have, or may still happen.
//
// One goroutine uses a Store. Every call ends when its context does.
type Store interface {
	// Acquire takes any free worker.
	Acquire(context.Context, Request) (Acquired, error)
	// Renew raises the mark of a lease. After a call without an answer, a later one for the same lease may return that
	// answer.
	Renew(context.Context, Renewal) (Renewed, error)
	// Release gives a lease back. Its mark stays, or rises to acknowledged (ticks) if the row has forgotten that. The
	// issuer must be sealed. It is no error if the lease was lost before, unless the row proves that acknowledged
	// writes are gone: *Lost.
	Release(ctx context.Context, l Lease, acknowledged int64) error
	// Close ends the connection, if there is one. A later call opens another.
	Close()
}
