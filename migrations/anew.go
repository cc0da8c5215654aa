package migrations

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// BeginAnew lets the function of a database that was set back begin anew, above every ID that it may have given.
func BeginAnew(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, sql.BeginAnew); err != nil {
		return failed("letting the function begin anew", err)
	}
	return nil
}
