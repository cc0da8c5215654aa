package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/proxy/scram"
)

// secretSize is the length of the secret of mocks, in bytes. The table checks the same.
const secretSize = 32

// Read reads the table in the database of conn, at the time now. If the schema has no such table yet, or the role may
// not read it, the error has a hint.
func Read(ctx context.Context, conn *pgx.Conn, now time.Time) (*List, error) {
	var secret []byte
	var accounts []Account
	rows, err := conn.Query(ctx, sql.Read)
	if err == nil {
		accounts, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (a Account, err error) {
			a, secret, err = scan(row)
			return a, err
		})
	}
	database := conn.Config().Database
	switch {
	case err != nil:
		return nil, explain("reading who may log in", conn, err)
	case len(secret) != secretSize:
		return nil, fault.WithKind(fault.NotInPlace, fault.WithHint(
			fmt.Errorf("table pgflurry.client_secret of database %q is empty", database), migrate(database)))
	case accounts[0].Name == "":
		accounts = nil
	}
	return NewList(accounts, secret, now), nil
}

// scan reads a row of the statement read. A row with the secret alone becomes an account without a name.
func scan(row pgx.CollectableRow) (a Account, secret []byte, err error) {
	var name, verifier *string
	var until, created, changed *time.Time
	var limit *int
	if err := row.Scan(&secret, &name, &verifier, &until, &limit, &created, &changed); err != nil || name == nil {
		return Account{}, secret, err
	}
	a = Account{Name: *name, ConnectionLimit: NoLimit, Created: *created, Changed: *changed}
	if verifier != nil {
		if a.Verifier, err = scram.ParseVerifier(*verifier); err != nil {
			return Account{}, nil, fmt.Errorf("the verifier of client %q cannot be used: %w", a.Name, err)
		}
	}
	if until != nil {
		a.ValidUntil = *until
	}
	if limit != nil {
		a.ConnectionLimit = *limit
	}
	return a, secret, nil
}

// explain turns an error of PostgreSQL into one that says what to do.
func explain(doing string, conn *pgx.Conn, err error) error {
	database := conn.Config().Database
	switch sqlState(err) {
	case "42P01", "3F000": // undefined table, schema
		return fault.WithKind(fault.NotInPlace, fault.WithHint(
			fmt.Errorf("%s: database %q has no table pgflurry.client", doing, database), migrate(database)))
	case "42501": // insufficient privilege
		role := conn.Config().User
		return namespace.AsLessee(fmt.Errorf("%s: role %q may not do that in database %q: %w", doing, role, database,
			err), role)
	}
	return fmt.Errorf("%s in database %q: %w", doing, database, err)
}

// sqlState returns the SQLSTATE of an error; "" if it is not PostgreSQL's.
func sqlState(err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return said.Code
	}
	return ""
}

func migrate(database string) string {
	return fmt.Sprintf(`Run "pgflurry migrate up --database URL" with the URL of database %q.`, database)
}
