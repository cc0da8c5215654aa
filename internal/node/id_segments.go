package node

import (
	"context"
	"errors"
	"sync/atomic"

	"pgflurry/internal/config"
	"pgflurry/internal/watch"
)

// idSegments gives sessions of the ID database the segments of one listed database.
type idSegments struct {
	databases *watch.Databases
	of        atomic.Pointer[string] // name of the database; empty: none was chosen
}

// choose sets the database whose segments sessions get from now on.
func (s *idSegments) choose(settings config.Settings) {
	name := settings.IDDatabase.Segments
	if name == "" && len(settings.Databases) == 1 {
		name = settings.Databases[0]
	}
	s.of.Store(&name)
}

// errNoneChosen: there are no numbers even before a database is asked.
var errNoneChosen = errors.New("no database is chosen for segments")

// A tagError is an error about the numbers of one tag. database is where its row is; empty: nowhere.
type tagError struct {
	error
	database, tag string
}

func (e *tagError) Unwrap() error { return e.error }

// find returns the database if it may be answered now, by the same permission as for its own sessions through the
// proxy. In the ID database the name of a function cannot mean another one. So a permission for calls with a schema is
// enough.
func (s *idSegments) find() (*watch.Database, error) {
	if name := *s.of.Load(); name != "" {
		return s.databases.Qualified(name)
	}
	return nil, errNoneChosen
}

// TryNextN implements idserver.Segments.
func (s *idSegments) TryNextN(tag []byte, n int) (first int64, count int, err error) {
	db, err := s.find()
	if err == nil {
		first, count, err = db.TryNextN(tag, n)
	}
	return first, count, s.named(tag, err)
}

// NextN implements idserver.Segments.
func (s *idSegments) NextN(ctx context.Context, tag []byte, n int) (first int64, count int, err error) {
	db, err := s.find()
	if err == nil {
		first, count, err = db.NextN(ctx, tag, n)
	}
	return first, count, s.named(tag, err)
}

// named adds the tag and the database to an error.
func (s *idSegments) named(tag []byte, err error) error {
	if err == nil {
		return nil
	}
	return &tagError{error: err, database: *s.of.Load(), tag: string(tag)}
}
