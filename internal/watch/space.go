package watch

import (
	"errors"
	"fmt"
	"maps"
	"sync"

	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
)

// wrongDatabase is a fault of a listed database that does not pass by itself.
type wrongDatabase struct{ error }

func (e *wrongDatabase) Unwrap() error { return e.error }

// Kind says that the database is not what the namespace needs.
func (e *wrongDatabase) Kind() fault.Kind { return fault.NotInPlace }

// A space is the ID space that all databases must be part of, and which of them has which function worker.
type space struct {
	home      namespace.Namespace // its row at the start: what it says of workers never changes
	held      func() (int, bool)  // the worker that this proxy holds, if it holds one
	mu        sync.Mutex
	functions map[int]*Listing // the listed database of each function worker
}

func newSpace(home namespace.Namespace, held func() (int, bool)) *space {
	return &space{home: home, held: held, functions: make(map[int]*Listing)}
}

// forget frees the function worker of a database that is no longer watched. If the same database was listed again
// meanwhile, its place stays: that is another listing.
func (s *space) forget(l *Listing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.functions, func(_ int, of *Listing) bool { return of == l })
}

// fits refuses a database whose IDs may repeat those of the namespace or of another listed database.
func (s *space) fits(l *Listing, ns namespace.Namespace) error {
	if ns.ID != s.home.ID {
		return &wrongDatabase{fault.WithHint(
			fmt.Errorf("database %q carries namespace %s, but the lease database carries %s: "+
				"their IDs may repeat each other's", l.name, ns.ID, s.home.ID),
			"Leave the database out of --databases, or make it part of the namespace before it holds IDs: "+
				"pgflurry namespace join --database URL --home LEASE_URL.")}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if taken := s.take(l, ns.FunctionWorker); taken != "" {
		return &wrongDatabase{fault.WithHint(errors.New(taken),
			"One of them was restored, or joined before its home was. Give it a worker of its own: "+
				"pgflurry namespace join --database URL --home LEASE_URL.")}
	}
	return nil
}

// take makes a function worker that of a listed database, or says whose it is. s.mu is held.
func (s *space) take(l *Listing, worker int) (taken string) {
	if other := s.functions[worker]; other != nil && other.name != l.name {
		return fmt.Sprintf("the functions of databases %q and %q have the same worker %d: "+
			"their IDs repeat each other's", other.name, l.name, worker)
	}
	s.functions[worker] = l
	return ""
}

// conflict says why the function of a database may give IDs that a proxy or another listed one gives, too; empty: it
// may not. Nobody writes such a row by a command. It may come from a home that was lost and made anew by hand.
func (s *space) conflict(l *Listing, ns namespace.Namespace) string {
	worker := ns.FunctionWorker
	held, is := s.held()
	s.mu.Lock()
	defer s.mu.Unlock()
	// First it leaves the worker that it had: two databases that have swapped their names have each other's.
	maps.DeleteFunc(s.functions, func(before int, of *Listing) bool { return of == l && before != worker })
	switch {
	case ns.ID != s.home.ID:
	case is && held == worker:
		return fmt.Sprintf("the function of database %q has worker %d, which this proxy holds: "+
			"their IDs repeat each other's", ns.Database, worker)
	case !s.home.Functions.Has(worker):
		return fmt.Sprintf("the function of database %q has worker %d, and the lease database keeps the workers %v "+
			"for functions: a proxy may give the same IDs", ns.Database, worker, s.home.Functions)
	default:
		return s.take(l, worker)
	}
	return ""
}

// conflictHint says what to do about a conflict.
const conflictHint = `Stop the writers of that database. Let every joined database join again, this one last: ` +
	`"pgflurry namespace join --database URL --home LEASE_URL" says how it gets a worker of its own.`
