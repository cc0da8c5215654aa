package namespace

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// WeakGuards names triggers that are missing or do not hold in every session, as after a restore with
// --disable-triggers. Empty: all hold. "pgflurry migrate up" mends them (sqlfuncs/guards.sql).
func WeakGuards(ctx context.Context, conn *pgx.Conn) (weak string, err error) {
	err = conn.QueryRow(ctx, sql.WeakGuards).Scan(&weak)
	return weak, err
}
