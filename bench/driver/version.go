package driver

import (
	"context"
	_ "embed" // the SQL

	"github.com/jackc/pgx/v5"
)

//go:embed sql/version.sql
var versionSQL string

// PostgresVersion asks for the version of PostgreSQL, directly or through a server in front of it.
func PostgresVersion(ctx context.Context, target string) (version string, err error) {
	conn, err := pgx.Connect(ctx, target)
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return version, conn.QueryRow(ctx, versionSQL, pgx.QueryExecModeSimpleProtocol).Scan(&version)
}

// IDDatabaseVersion reads the version that a proxy's ID database reports. The ID database has no query for that.
func IDDatabaseVersion(ctx context.Context, target string) (string, error) {
	conn, err := pgx.Connect(ctx, target)
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return "unknown, greets as PostgreSQL " + conn.PgConn().ParameterStatus("server_version"), nil
}
