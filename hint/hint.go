// Package hint carries, beside an error, what to do next.
// A program prints it below the error, the log has it as an attribute.
//
// Any error may have a hint of its own: a method Hint() string, which gives whole sentences.
package hint

import "errors"

type hinted struct {
	error
	advice string
}

func (e hinted) Unwrap() error { return e.error }
func (e hinted) Hint() string  { return e.advice }

// With is err with advice: whole sentences.
func With(err error, advice string) error { return hinted{err, advice} }

// Of is the outermost hint of err; empty if there is none.
func Of(err error) string {
	var with interface{ Hint() string }
	if errors.As(err, &with) {
		return with.Hint()
	}
	return ""
}

// Fields are the attribute of a line of the log that says what to do next. They are empty where nobody knows.
func Fields(advice string) []any {
	if advice == "" {
		return nil
	}
	return []any{"hint", advice}
}
