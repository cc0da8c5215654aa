package namespace

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Answers says which forms a proxy may answer in one database. Whatever it may not answer it forwards.
type Answers struct {
	All         bool   // any form at all; those that name schema public always
	Unqualified bool   // also the forms that name no schema
	Why         string // a sentence for people, if one of the two is false
}

//go:embed answerable.sql
var answerableSQL string

// Answerable says what a proxy of the namespace wantID may answer in the database of conn. A database of another namespace, without
// one, or a copy is an answer (nothing), not an error; errors are those of the connection and of missing rights.
func Answerable(ctx context.Context, conn *pgx.Conn, wantID string) (Answers, error) {
	n, err := Read(ctx, conn)
	if missing := new(NotMigratedError); errors.As(err, &missing) {
		return Answers{Why: err.Error()}, nil
	}
	if err != nil {
		return Answers{}, err
	}
	if n.ID != wantID {
		return Answers{Why: fmt.Sprintf("database %q belongs to namespace %s, not %s", n.Database, n.ID, wantID)}, nil
	}
	if why, copied := n.Copied(); copied {
		return Answers{Why: why}, nil
	}
	var installed, everybody bool
	var overload, elsewhere string
	if err := conn.QueryRow(ctx, answerableSQL).Scan(&installed, &everybody, &overload, &elsewhere); err != nil {
		return Answers{}, fmt.Errorf("reading which functions database %q has: %w", n.Database, err)
	}
	switch {
	case !installed:
		return Answers{Why: fmt.Sprintf("database %q lacks pgflurry's public.next_snowflake()", n.Database)}, nil
	case !everybody:
		return Answers{Why: fmt.Sprintf("EXECUTE on next_snowflake() was revoked from PUBLIC in database %q: PostgreSQL decides who may call it", n.Database)}, nil
	case overload != "":
		return Answers{Why: fmt.Sprintf("database %q has another function of the name, %s: PostgreSQL decides which is meant", n.Database, overload)}, nil
	case elsewhere != "":
		return Answers{All: true, Why: fmt.Sprintf("database %q has another function of the name, %s: calls that name no schema are forwarded", n.Database, elsewhere)}, nil
	}
	return Answers{All: true, Unqualified: true}, nil
}
