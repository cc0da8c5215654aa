package fault

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

// withKind is an error with its kind. Any error type may bring its own: a method Kind() Kind.
type withKind struct {
	error
	kind Kind
}

func (e withKind) Unwrap() error { return e.error }
func (e withKind) Kind() Kind    { return e.kind }

// WithKind adds a kind to err; nil stays nil.
func WithKind(kind Kind, err error) error {
	if err == nil {
		return nil
	}
	return withKind{err, kind}
}

// KindOf is the outermost kind of err.
func KindOf(err error) Kind {
	var with interface{ Kind() Kind }
	if errors.As(err, &with) {
		return with.Kind()
	}
	return Failed
}
