package session

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/fault"
)

// Refuse makes an error that the operator can act on. advice says how, in whole sentences.
func Refuse(advice, format string, values ...any) error {
	return fault.WithHint(fmt.Errorf(format, values...), advice)
}

// Contradicts is Refuse for settings that a namespace does not allow.
func Contradicts(advice, format string, values ...any) error {
	return fault.WithKind(fault.Usage, Refuse(advice, format, values...))
}

// Failed adds to an error what was being done, and keeps PostgreSQL's hint.
func Failed(doing string, err error) error {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return fault.WithHint(&ServerError{doing, said}, said.Hint)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// A ServerError is an error of PostgreSQL, with what was being done.
type ServerError struct {
	doing string
	said  *pgconn.PgError
}

func (e *ServerError) Error() string {
	return fmt.Sprintf("%s: %s (SQLSTATE %s)", e.doing, e.said.Message, e.said.Code)
}

func (e *ServerError) Unwrap() error { return e.said }

// NotAvailable reports whether the error means that a lock was not free in time.
func NotAvailable(err error) bool {
	said, is := errors.AsType[*pgconn.PgError](err)
	return is && said.Code == "55P03"
}
