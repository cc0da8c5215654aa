// Package problem has the error that a client of the ID database reads. All folders of idserver make such errors. Each
// has its own words.
package problem

import "fmt"

// Error is what a client reads: an ERROR if its session goes on, a FATAL if that ends. Two with the same texts are
// equal.
type Error struct {
	SQLState string
	Message  string
	Hint     string // what to do; empty if the message says enough
}

func (e Error) Error() string { return e.Message }

// New is an Error of these texts.
func New(sqlState, message, hint string) Error { return Error{sqlState, message, hint} }

// Errorf is an Error with values of a client.
func Errorf(sqlState, hint, format string, values ...any) Error {
	return Error{sqlState, fmt.Sprintf(format, values...), hint}
}
