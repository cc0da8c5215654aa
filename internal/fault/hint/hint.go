// Package hint adds to an error what to do next. A program prints the hint below the error, and the log has it as an
// attribute.
//
// Any error type may bring its own hint: a method Hint() string, which returns whole sentences.
package hint

import "errors"

type hinted struct {
	error
	advice string
}

func (e hinted) Unwrap() error { return e.error }
func (e hinted) Hint() string  { return e.advice }

// With adds a hint to err. advice is whole sentences.
func With(err error, advice string) error { return hinted{err, advice} }

// Of is the outermost hint of err; empty if there is none.
func Of(err error) string {
	var with interface{ Hint() string }
	if errors.As(err, &with) {
		return with.Hint()
	}
	return ""
}

// Fields is the hint as an attribute of a log line; empty if there is no advice.
func Fields(advice string) []any {
	if advice == "" {
		return nil
	}
	return []any{"hint", advice}
}
