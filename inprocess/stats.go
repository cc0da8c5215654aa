package inprocess

import (
	"time"

	"pgflurry/generator"
	"pgflurry/internal/connect"
)

// Stats is the state of a Generator at a moment, for metrics and for people.
type Stats struct {
	// Problem is why there is no worker, or why it is not renewed; nil while all is well. It is for people, except that
	// it wraps ErrSuspended or ErrClosed.
	Problem error

	Held    bool             // there is a lease; it may be lost while Reserve is left
	Worker  int              // of the present or last grant, meaningful if Term is above 0
	Term    int64            // which acquisition of the worker it is; 0: there was no grant since Resume
	Reserve time.Duration    // how long IDs go on without the database
	Layout  generator.Layout // decodes the IDs; zero while suspended or closed
	// Renewed is how long ago the database last acknowledged a write; meaningful if Term is above 0.
	Renewed time.Duration
	Ahead   time.Duration // how far IDs are ahead of the database's clock; a few milliseconds are normal

	// How many attempts had which result since Open or Resume: ok, unknown, refused, and lost for renewals.
	Renewals, Acquisitions map[string]int64
}

// Stats returns the present state. It waits for nobody.
func (g *Generator) Stats() Stats {
	at := g.state.Load()
	if at.session == nil {
		return Stats{Problem: at.why}
	}
	k := at.session.keeper.Stats()
	s := Stats{
		Held: k.Lease.Held, Worker: k.Lease.Worker, Term: k.Term, Reserve: k.Lease.Reserve, Layout: at.session.layout,
		Ahead: k.Clock.Ahead, Renewals: k.Lease.Renewals, Acquisitions: k.Lease.Acquisitions,
	}
	if k.Clock.Known {
		s.Renewed = k.At - k.Acknowledged
	}
	switch {
	case k.Cause != nil:
		s.Problem = connect.Explain(k.Cause)
	case !k.Lease.Granted:
		s.Problem = ErrNoGrant
	}
	return s
}
