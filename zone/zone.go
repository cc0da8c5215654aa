// Package zone checks time zones that a person names.
package zone

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"

	"pgflurry/hint"
	"pgflurry/outcome"
)

//go:embed known.sql
var known string

// Check refuses a time zone that the server has no name for. flag is where the person has named it.
func Check(ctx context.Context, conn *pgx.Conn, flag, name string) error {
	var has bool
	if err := conn.QueryRow(ctx, known, name).Scan(&has); err != nil {
		return fmt.Errorf("looking for time zone %q: %w", name, err)
	}
	if !has {
		return outcome.As(outcome.Usage, hint.With(fmt.Errorf("--%s: the server knows no time zone %q", flag, name),
			`Expected a name such as UTC or Europe/Berlin: "SELECT name FROM pg_timezone_names" lists them.`))
	}
	return nil
}
