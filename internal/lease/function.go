package lease

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

//go:embed function_ahead.sql
var functionAheadSQL string

// FunctionAhead returns how far the IDs of the function in the database of conn are ahead of its clock; 0: they are
// not. They are up to a second ahead if callers want more IDs than the layout holds. They stay ahead for as long as a
// clock was set back. After a crash they begin about two seconds ahead.
func FunctionAhead(ctx context.Context, conn *pgx.Conn) (time.Duration, error) {
	var milliseconds *int64
	err := reading(ctx, conn, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, functionAheadSQL).Scan(&milliseconds)
	})
	switch {
	case err != nil:
		return 0, fmt.Errorf("reading the clock of the function: %w", err)
	case milliseconds == nil:
		return 0, nil
	}
	return time.Duration(max(0, *milliseconds)) * time.Millisecond, nil
}
