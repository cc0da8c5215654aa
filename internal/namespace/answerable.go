package namespace

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Answers says which calls a proxy may answer in one database. It forwards all others.
type Answers struct {
	// Names are what such a call may use: functions, and types of its casts. They stand as in the text of a statement,
	// "next_snowflake" and "public.next_snowflake". Each surely means what pgflurry, or PostgreSQL itself, means by it.
	Names []string
	// a sentence for operators, if a name is missing and they may not expect that
	Why string
}

// Permit says whether calls may use this name.
func (a Answers) Permit(name string) bool { return slices.Contains(a.Names, name) }

//go:embed answerable.sql
var answerableSQL string

// A Decision is what a proxy may answer in one database, as one look has found it.
type Decision struct {
	Namespace         // the zero value: the database has none
	IDs       Answers // next_snowflake() and next_snowflakes(n)
	Segments  Answers // next_segment(tag) and next_segments(tag, n)
	Others    Answers // what both may use: generate_series(1, n), ::text, ::int8
	// Nothing is why none may be answered, whatever functions are there: another namespace, a copy, closed. Empty: the
	// functions and rights decide.
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
func Answerable(ctx context.Context, conn *pgx.Conn, wantID string) (Decision, error) {
	questions := &pgx.Batch{}
	questions.Queue(sql.Read, Reached(conn))
	questions.Queue(answerableSQL)
	questions.Queue(sql.SegmentTable)
	answers := conn.SendBatch(ctx, questions)
	defer answers.Close()
	n, err := scan(conn, answers.QueryRow())
	j := Decision{Namespace: n}
	switch missing := new(NotMigratedError); {
	case errors.As(err, &missing):
		j.Nothing = err.Error()
	case err != nil:
		return Decision{}, err
	case n.ID != wantID:
		j.Nothing = fmt.Sprintf("database %q belongs to namespace %s, not %s", n.Database, n.ID, wantID)
	case n.Closed:
		j.Nothing = fmt.Sprintf("database %q was closed for good with \"pgflurry namespace close\"", n.Database)
	default:
		j.Nothing, _ = n.Copied()
	}
	if j.Nothing != "" {
		j.IDs, j.Segments = Answers{Why: j.Nothing}, Answers{Why: j.Nothing}
		return j, nil
	}
	rows, err := answers.Query()
	if err != nil {
		return j, cannotJudge(n.Database, err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[resolved])
	if err != nil {
		return j, cannotJudge(n.Database, err)
	}
	var role string
	var mayReserve bool
	if err := answers.QueryRow().Scan(&j.SegmentOrigin, &mayReserve, &role); err != nil {
		return j, cannotJudge(n.Database, err)
	}
	j.judge(found)
	if !mayReserve {
		j.Segments = Answers{Why: fmt.Sprintf("role %q may not reserve blocks in database %q; as the owner run: %s",
			role, n.Database, GrantLease(role))}
	}
	return j, nil
}

func cannotJudge(database string, err error) error {
	return fmt.Errorf("reading which functions database %q has: %w", database, err)
}

// resolved is a row of answerable.sql: what one name with one schema means.
type resolved struct {
	Schema, Name string
	There        bool   // as a call means it
	Everybody    bool   // PUBLIC may use it
	Beside       string // something else that has the name, in the same schema
	Elsewhere    string // the same in another schema
}

// judge finds the names that calls may use. A name without a schema is sure if nothing else in the database has it: any
// schema may be in a search_path. Then it means what is in public, or PostgreSQL's own.
func (j *Decision) judge(found []resolved) {
	answers := map[string]*Answers{
		"next_snowflake": &j.IDs, "next_snowflakes": &j.IDs,
		"next_segment": &j.Segments, "next_segments": &j.Segments,
	}
	sure := make(map[string]bool)
	for _, m := range found {
		a, known := answers[m.Name]
		if !known {
			a = &j.Others
		}
		full := m.Schema + "." + m.Name
		sure[full] = m.There && m.Everybody && m.Beside == ""
		switch full { // these call another one
		case "public.next_snowflakes":
			sure[full] = sure[full] && sure["public.next_snowflake"]
		case "public.next_segment", "public.next_segments":
			sure[full] = sure[full] && sure["pgflurry."+m.Name]
		}
		if sure[full] {
			a.Names = append(a.Names, full)
			if m.Schema != "pgflurry" && m.Elsewhere == "" {
				a.Names = append(a.Names, m.Name)
			}
		}
		if a.Why == "" {
			a.Why = m.why(j.Database)
		}
	}
	if j.IDs.Why == "" {
		j.IDs.Why = j.Others.Why
	}
}

// why says what keeps calls from being answered; empty: nothing, or nobody expects them.
func (m resolved) why(database string) string {
	isAlias := m.Schema == "public" && strings.HasPrefix(m.Name, "next_segment")
	switch {
	case m.Beside != "":
		what := "PostgreSQL decides which is meant"
		if isAlias {
			what = "calls that do not name schema pgflurry are forwarded"
		}
		return fmt.Sprintf("in database %q the name %s can mean %s: %s", database, m.Name, m.Beside, what)
	case isAlias && !m.There: // "namespace set --functions all" was not asked for
		return ""
	case !m.There:
		return fmt.Sprintf("database %q lacks pgflurry's function %s.%s", database, m.Schema, m.Name)
	case !m.Everybody && m.Schema == "public" && !isAlias:
		return fmt.Sprintf("EXECUTE on %s() was revoked from PUBLIC in database %q: "+
			"PostgreSQL decides who may call it, until GRANT EXECUTE ON FUNCTION public.next_snowflake(), "+
			"public.next_snowflakes(bigint) TO PUBLIC", m.Name, database)
	case !m.Everybody:
		return fmt.Sprintf("PUBLIC lacks EXECUTE on %s.%s(), or USAGE on its schema, in database %q: "+
			"PostgreSQL decides who may call it", m.Schema, m.Name, database)
	case m.Elsewhere != "":
		return fmt.Sprintf("in database %q the name %s can mean %s: calls that name no schema are forwarded",
			database, m.Name, m.Elsewhere)
	}
	return ""
}
