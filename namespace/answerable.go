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
	All         bool   // any form at all; those that name the schema always
	Unqualified bool   // also the forms that name no schema
	Why         string // a sentence for people, if one of the two is false
}

var (
	//go:embed answerable.sql
	answerableSQL string
	//go:embed answerable_segments.sql
	answerableSegmentsSQL string
)

// belongs reads the namespace row of a database. Where it is not that of wantID's own database, why is the sentence that says so.
func belongs(ctx context.Context, conn *pgx.Conn, wantID string) (n Namespace, why string, err error) {
	n, err = Read(ctx, conn)
	if missing := new(NotMigratedError); errors.As(err, &missing) {
		return n, err.Error(), nil
	}
	if err != nil {
		return n, "", err
	}
	if n.ID != wantID {
		return n, fmt.Sprintf("database %q belongs to namespace %s, not %s", n.Database, n.ID, wantID), nil
	}
	why, _ = n.Copied()
	return n, why, nil
}

// Answerable says what a proxy of the namespace wantID may answer in the database of conn. A database of another namespace, without
// one, or a copy is an answer (nothing), not an error; errors are those of the connection and of missing rights.
func Answerable(ctx context.Context, conn *pgx.Conn, wantID string) (Answers, error) {
	n, why, err := belongs(ctx, conn, wantID)
	if err != nil || why != "" {
		return Answers{Why: why}, err
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

// AnswerableSegments says the same about next_segment(tag) and next_segments(tag, n), where the role of conn is the one that
// reserves blocks.
func AnswerableSegments(ctx context.Context, conn *pgx.Conn, wantID string) (Answers, error) {
	n, why, err := belongs(ctx, conn, wantID)
	if err != nil || why != "" {
		return Answers{Why: why}, err
	}
	var installed, everybody, mayReserve bool
	var beside, elsewhere, role string
	if err := conn.QueryRow(ctx, answerableSegmentsSQL).Scan(&installed, &everybody, &beside, &elsewhere, &mayReserve, &role); err != nil {
		return Answers{}, fmt.Errorf("reading which functions database %q has: %w", n.Database, err)
	}
	switch {
	case beside != "":
		return Answers{Why: fmt.Sprintf("database %q has another function of the name, %s: PostgreSQL decides which is meant", n.Database, beside)}, nil
	case !installed:
		return Answers{Why: fmt.Sprintf("database %q lacks one of pgflurry's functions next_segment(text) and next_segments(text, bigint), in pgflurry or in public", n.Database)}, nil
	case !everybody:
		return Answers{Why: fmt.Sprintf("EXECUTE on next_segment() was revoked from PUBLIC in database %q: PostgreSQL decides who may call it", n.Database)}, nil
	case !mayReserve:
		return Answers{Why: fmt.Sprintf("role %q may not reserve blocks in database %q; as the owner run: GRANT SELECT, UPDATE ON pgflurry.segment TO %s;",
			role, n.Database, pgx.Identifier{role}.Sanitize())}, nil
	case elsewhere != "":
		return Answers{All: true, Why: fmt.Sprintf("database %q has another function of the name, %s: calls that name no schema are forwarded", n.Database, elsewhere)}, nil
	}
	return Answers{All: true, Unqualified: true}, nil
}
