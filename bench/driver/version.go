package driver

import (
	"context"
	_ "embed" // the SQL

	"github.com/jackc/pgx/v5"
)

//go:embed sql/version.sql
var versionSQL string

// PostgresVersion asks the server, or what stands in front of it, for the version of PostgreSQL.
func PostgresVersion(ctx context.Context, target string) (version string, err error) {
	conn, err := pgx.Connect(ctx, target)
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return version, conn.QueryRow(ctx, versionSQL, pgx.QueryExecModeSimpleProtocol).Scan(&version)
}

// IDDatabaseVersion asks a proxy's virtual database which PostgreSQL it says it is: it takes no query for that.
func IDDatabaseVersion(ctx context.Context, target string) (string, error) {
	conn, err := pgx.Connect(ctx, target)
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return "unknown, greets as PostgreSQL " + conn.PgConn().ParameterStatus("server_version"), nil
}
