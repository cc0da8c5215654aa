package decide

import (
	"context"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/session"
)

// BeginAnew lets the function of a database that was set back begin anew, above every ID that it may have given.
func BeginAnew(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, sql.BeginAnew); err != nil {
		return session.Failed("letting the function begin anew", err)
	}
	return nil
}
