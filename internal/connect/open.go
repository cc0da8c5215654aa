package connect

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Open opens the session of a command. It leaves no prepared statement behind in a pooler. The error says in one
// sentence why there is none.
func Open(ctx context.Context, config *pgx.ConnConfig) (*pgx.Conn, error) {
	config = config.Copy()
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, Explain(err)
	}
	return conn, nil
}
