package driver

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// PostgresVersion is the version that a server reports to its clients: PostgreSQL, or a server in front of it.
func PostgresVersion(ctx context.Context, target string) (string, error) {
	conn, err := pgx.Connect(ctx, target)
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return "PostgreSQL " + conn.PgConn().ParameterStatus("server_version"), nil
}
