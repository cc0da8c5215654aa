package fault

import "errors"

// withHint is an error with its hint. Any error type may bring its own: a method Hint() string.
type withHint struct {
	error
	advice string
}

func (e withHint) Unwrap() error { return e.error }
func (e withHint) Hint() string  { return e.advice }

// WithHint adds a hint to err. advice is whole sentences.
func WithHint(err error, advice string) error { return withHint{err, advice} }

// HintOf is the outermost hint of err; empty if there is none.
func HintOf(err error) string {
	var with interface{ Hint() string }
	if errors.As(err, &with) {
		return with.Hint()
	}
	return ""
}

// HintField is the hint as an attribute of a log line; empty if there is no advice.
func HintField(advice string) []any {
	if advice == "" {
		return nil
	}
	return []any{"hint", advice}
}
