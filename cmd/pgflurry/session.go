package main

import (
	"context"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/connect/connstring"
)

// connect opens the session of a command. It leaves no prepared statement behind in a pooler.
func connect(ctx context.Context, config *pgx.ConnConfig) (*pgx.Conn, error) {
	config = config.Copy()
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, connstring.Explain(err)
	}
	return conn, nil
}
