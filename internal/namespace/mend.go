package namespace

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// ErrMayNotMend: the schema is older than MendSequences, or the role lacks the right.
var ErrMayNotMend = errors.New("sequences cannot be made anew")

// MendSequences recreates sequences of the function that a failover left unreadable, so that each draw fails. It
// returns their names, usually none. sqlfuncs/mend_sequences.sql explains the cause, and why this is safe.
func MendSequences(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	rows, err := conn.Query(ctx, sql.MendSequences)
	if err != nil {
		return nil, err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if Uncallable(err) {
		return nil, fmt.Errorf("%w: %w", ErrMayNotMend, err)
	}
	return names, err
}
