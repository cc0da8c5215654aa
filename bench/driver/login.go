package driver

import (
	"context"
	_ "embed" // the SQL

	"github.com/jackc/pgx/v5"
)

// Login is the role that CreateLogin creates.
const Login = "pgflurry_bench"

var (
	//go:embed sql/create_login.sql
	createLoginSQL string
	//go:embed sql/verifier.sql
	verifierSQL string
)

// CreateLogin creates the role Login with a password, and returns its SCRAM verifier as PostgreSQL stores it.
func CreateLogin(ctx context.Context, target, password string) (verifier string, err error) {
	conn, err := pgx.Connect(ctx, target)
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var create string
	if err := conn.QueryRow(ctx, createLoginSQL, Login, password).Scan(&create); err != nil {
		return "", err
	}
	if _, err := conn.Exec(ctx, create); err != nil {
		return "", err
	}
	return verifier, conn.QueryRow(ctx, verifierSQL, Login).Scan(&verifier)
}
