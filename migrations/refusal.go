package migrations

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/fault"
)

// refuse makes an error that the operator can act on. advice says how, in whole sentences.
func refuse(advice, format string, values ...any) error {
	return fault.WithHint(fmt.Errorf(format, values...), advice)
}

// contradicts is refuse for settings that a namespace does not allow.
func contradicts(advice, format string, values ...any) error {
	return fault.WithKind(fault.Usage, refuse(advice, format, values...))
}

// failed adds to an error what was being done, and keeps PostgreSQL's hint.
func failed(doing string, err error) error {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return fault.WithHint(&serverError{doing, said}, said.Hint)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// A serverError is an error of PostgreSQL, with what was being done.
type serverError struct {
	doing string
	said  *pgconn.PgError
}

func (e *serverError) Error() string {
	return fmt.Sprintf("%s: %s (SQLSTATE %s)", e.doing, e.said.Message, e.said.Code)
}

func (e *serverError) Unwrap() error { return e.said }

// notAvailable reports whether the error means that a lock was not free in time.
func notAvailable(err error) bool {
	said, is := errors.AsType[*pgconn.PgError](err)
	return is && said.Code == "55P03"
}
