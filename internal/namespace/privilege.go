package namespace

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/fault"
)

// Forbidden says that PostgreSQL has refused because the role lacks a privilege (SQLSTATE 42501).
func Forbidden(err error) bool { return isState(err, "42501") }

// Uncallable says that PostgreSQL has refused because a function does not exist, as in an older schema, or because the
// role may not call it.
func Uncallable(err error) bool { return isState(err, "42883") || Forbidden(err) }

func isState(err error, code string) bool {
	var said *pgconn.PgError
	return errors.As(err, &said) && said.Code == code
}

// AsLessee adds what to grant to the role, if err is Forbidden.
func AsLessee(err error, role string) error {
	if Forbidden(err) {
		return fault.WithHint(err, "As the owner run: "+GrantLease(role))
	}
	return err
}

// AsOwner says who may do it, if err is Forbidden: the role may only lease.
func AsOwner(err error) error {
	if Forbidden(err) {
		return fault.WithHint(err, "Run it as the owner of schema pgflurry, or as a member of that role.")
	}
	return err
}

// GrantLease returns the statement that gives a role the rights for a lease and for segments, and no more.
func GrantLease(role string) string {
	return fmt.Sprintf("CALL pgflurry.grant_lease('%s');", strings.ReplaceAll(role, "'", "''"))
}
