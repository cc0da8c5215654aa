package frontend

import "sync/atomic"

// Reason is why a session ended. The first reason noticed counts; later ones are its consequences.
type Reason int32

const (
	StillOpen      Reason = iota
	ClosedClient          // the client left, or its connection was lost
	ClosedRefused         // PostgreSQL refused the login
	ClosedUpstream        // upstream ended it with a FATAL, or its connection was lost or refused
	ClosedDrain           // the proxy drains
	ClosedLimit           // it had not logged in, and gave way to another one
	ClosedTimeout         // the login timeout
	ClosedProtocol        // the client broke the protocol, or asked for what the proxy does not allow
	ClosedFault           // a fault of the proxy
	ClosedDemoted         // its host is no longer the primary
	ClosedIdle            // it was idle for too long, or its client read nothing
	ClosedRemoved         // its account was removed
	Reasons
)

var reasonLabels = [Reasons]string{
	"", "client", "refused", "upstream", "drain", "limit", "timeout", "protocol", "fault", "demoted", "idle", "removed",
}

// String is the label in metrics.
func (r Reason) String() string { return reasonLabels[r] }

// Ending is why a session ends. Its methods are safe for concurrent use.
type Ending struct{ why atomic.Int32 }

// Because notes the reason. Only the first call counts.
func (e *Ending) Because(r Reason) { e.why.CompareAndSwap(int32(StillOpen), int32(r)) }

// Why is StillOpen until Because was called.
func (e *Ending) Why() Reason { return Reason(e.why.Load()) }
