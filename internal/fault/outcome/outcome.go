// Package outcome adds a kind to an error. A program that ends by the error exits with the number of its kind.
//
// Any error type may bring its own kind: a method Outcome() Kind.
package outcome

import "errors"

// A Kind of error. Its number is the exit code.
type Kind int

const (
	// Failed is any error that no other kind fits.
	Failed Kind = 1
	// Usage means that the user gave a wrong flag, argument, variable or key of a file. Or the value contradicts
	// another one, or the namespace. The same call will fail again.
	Usage Kind = 2
	// NotInPlace means that the database is not ready: something is missing or pending, or it is a copy.
	NotInPlace Kind = 3
	// Unreachable means that there is no connection: nothing listens, the server refuses the login, or it does not
	// answer in time.
	Unreachable Kind = 4
)

type kindred struct {
	error
	kind Kind
}

func (e kindred) Unwrap() error { return e.error }
func (e kindred) Outcome() Kind { return e.kind }

// As adds a kind to err; nil stays nil.
func As(kind Kind, err error) error {
	if err == nil {
		return nil
	}
	return kindred{err, kind}
}

// Of is the outermost kind of err.
func Of(err error) Kind {
	var with interface{ Outcome() Kind }
	if errors.As(err, &with) {
		return with.Outcome()
	}
	return Failed
}
