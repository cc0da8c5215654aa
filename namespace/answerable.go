package namespace

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Answers says which forms of a call a proxy may answer in one database. It forwards all others.
type Answers struct {
	All bool // calls that name the schema of the function; if false, none at all
	// also the other calls: those that name no schema, and those of an alias
	Unqualified bool
	// a sentence for operators, if one of the two is false and they may not expect that
	Why string
}

var (
	//go:embed answerable.sql
	answerableSQL string
	//go:embed answerable_segments.sql
	answerableSegmentsSQL string
	//go:embed segment_origin.sql
	segmentOriginSQL string
)

// A Judgement is what a proxy may answer in one database, as one look has found it.
type Judgement struct {
	Namespace         // the zero value: the database has none
	IDs       Answers // next_snowflake() and next_snowflakes(n)
	Segments  Answers // next_segment(tag) and next_segments(tag, n)
	// Nothing is why neither may be answered, whatever functions are there: another namespace, a copy, closed. Empty:
	// the functions and rights decide.
	Nothing string
	// SegmentOrigin says which database and table the rows of the tags are in, for comparison. Empty: no statement.
	SegmentOrigin string
}

// Answerable returns what a proxy of the namespace wantID may answer in the database of conn. The role of conn must be
// the one that reserves blocks.
//
// The proxy may answer nothing in a copy, in a closed database, or in one of another namespace or of none. That is no
// error. Errors are those of the connection and of missing rights.
//
// It takes one round trip if the query mode of conn allows it, as pgx.QueryExecModeExec does.
func Answerable(ctx context.Context, conn *pgx.Conn, wantID string) (Judgement, error) {
	questions := &pgx.Batch{}
	questions.Queue(readSQL)
	questions.Queue(answerableSQL)
	questions.Queue(answerableSegmentsSQL)
	questions.Queue(segmentOriginSQL)
	answers := conn.SendBatch(ctx, questions)
	defer answers.Close()
	n, err := scan(conn, answers.QueryRow())
	j := Judgement{Namespace: n}
	switch missing := new(NotMigratedError); {
	case errors.As(err, &missing):
		j.Nothing = err.Error()
	case err != nil:
		return Judgement{}, err
	case n.ID != wantID:
		j.Nothing = fmt.Sprintf("database %q belongs to namespace %s, not %s", n.Database, n.ID, wantID)
	case n.Closed:
		j.Nothing = fmt.Sprintf("database %q was closed for good with \"pgflurry close\"", n.Database)
	default:
		j.Nothing, _ = n.Copied()
	}
	if j.Nothing != "" {
		j.IDs, j.Segments = Answers{Why: j.Nothing}, Answers{Why: j.Nothing}
		return j, nil
	}
	if j.IDs, err = answerableIDs(answers.QueryRow(), n.Database); err == nil {
		j.Segments, err = answerableSegments(answers.QueryRow(), n.Database)
	}
	if err == nil {
		err = answers.QueryRow().Scan(&j.SegmentOrigin)
	}
	return j, err
}

func answerableIDs(row pgx.Row, database string) (Answers, error) {
	var installed, everybody bool
	var overload, elsewhere string
	if err := row.Scan(&installed, &everybody, &overload, &elsewhere); err != nil {
		return Answers{}, fmt.Errorf("reading which functions database %q has: %w", database, err)
	}
	switch {
	case !installed:
		return Answers{Why: fmt.Sprintf("database %q lacks pgflurry's public.next_snowflake()", database)}, nil
	case !everybody:
		return Answers{Why: fmt.Sprintf("EXECUTE on next_snowflake() was revoked from PUBLIC in database %q: "+
			"PostgreSQL decides who may call it, until GRANT EXECUTE ON FUNCTION public.next_snowflake(), "+
			"public.next_snowflakes(bigint) TO PUBLIC", database)}, nil
	case overload != "":
		return Answers{
			Why: fmt.Sprintf("database %q has another function of the name, %s: PostgreSQL decides which is meant",
				database, overload),
		}, nil
	case elsewhere != "":
		return Answers{All: true, Why: fmt.Sprintf("database %q has another function of the name, %s: "+
			"calls that name no schema are forwarded", database, elsewhere)}, nil
	}
	return Answers{All: true, Unqualified: true}, nil
}

func answerableSegments(row pgx.Row, database string) (Answers, error) {
	var installed, aliases, everybody, mayReserve bool
	var beside, elsewhere, role string
	if err := row.Scan(&installed, &aliases, &everybody, &beside, &elsewhere, &mayReserve, &role); err != nil {
		return Answers{}, fmt.Errorf("reading which functions database %q has: %w", database, err)
	}
	switch {
	case beside != "":
		return Answers{
			Why: fmt.Sprintf("database %q has another function of the name, %s: PostgreSQL decides which is meant",
				database, beside),
		}, nil
	case !installed:
		return Answers{Why: fmt.Sprintf("database %q lacks one of pgflurry's functions "+
			"pgflurry.next_segment(text) and pgflurry.next_segments(text, bigint)", database)}, nil
	case !everybody:
		return Answers{Why: fmt.Sprintf("EXECUTE on next_segment() was revoked from PUBLIC in database %q: "+
			"PostgreSQL decides who may call it", database)}, nil
	case !mayReserve:
		return Answers{Why: fmt.Sprintf("role %q may not reserve blocks in database %q; as the owner run: %s",
			role, database, GrantLease(role))}, nil
	case elsewhere != "":
		return Answers{All: true, Why: fmt.Sprintf("database %q has another function of the name, %s: "+
			"calls that do not name schema pgflurry are forwarded", database, elsewhere)}, nil
	}
	return Answers{All: true, Unqualified: aliases}, nil
}
