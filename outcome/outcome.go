// Package outcome carries, beside an error, of what kind it is: a program that ends by it exits with that number.
//
// Any error may say its kind itself: a method Outcome() Kind.
package outcome

import "errors"

// A Kind of error. Its number is the exit code of a program that ends by the error.
type Kind int

const (
	// Failed is any error that no other kind fits.
	Failed Kind = 1
	// Usage means that something given is wrong: a flag, an argument, a variable, a key of a file.
	// Or it contradicts something else that was given, or the namespace. The same call fails again.
	Usage Kind = 2
	// NotInPlace means that the database is not what it has to be: something is missing or pending, or it is a copy.
	NotInPlace Kind = 3
	// Unreachable means that there is no connection: nothing is there, it refuses the login, or it does not answer in
	// time.
	Unreachable Kind = 4
)

type kindred struct {
	error
	kind Kind
}

func (e kindred) Unwrap() error { return e.error }
func (e kindred) Outcome() Kind { return e.kind }

// As is err as one of a kind. No error stays none.
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
