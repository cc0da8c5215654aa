package migrations

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// A Refusal is an error that a person can do something about.
type Refusal struct {
	what, hint string
	cause      error
}

func (r *Refusal) Error() string { return r.what }

// Hint says what to do next: whole sentences, or "".
func (r *Refusal) Hint() string { return r.hint }

// Unwrap returns PostgreSQL's own error, if that is where it comes from.
func (r *Refusal) Unwrap() error { return r.cause }

func refuse(hint, format string, values ...any) error {
	return &Refusal{what: fmt.Sprintf(format, values...), hint: hint}
}

// failed says during what an error came, and keeps PostgreSQL's hint.
func failed(doing string, err error) error {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return &Refusal{
			what: fmt.Sprintf("%s: %s (SQLSTATE %s)", doing, said.Message, said.Code), hint: said.Hint, cause: err,
		}
	}
	return fmt.Errorf("%s: %w", doing, err)
}
