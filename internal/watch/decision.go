package watch

import (
	"slices"
	"sync/atomic"
	"time"

	"pgflurry/internal/namespace"
	"pgflurry/internal/report"
	"pgflurry/proxy/statement"
)

// A permission is what sessions to a database may get from memory, and the decision behind it.
type permission struct {
	sessions atomic.Pointer[statement.Permission] // of those that begin now
	decision atomic.Pointer[decision]
}

// A decision is the result of the looks at a database.
type decision struct {
	names                        statement.Names // what calls from memory may use
	ids, segments                level
	idsWhy, idsHint, segmentsWhy string
	at                           time.Time // time of the last look that judged; zero: none
	found                        time.Time // … that found a PostgreSQL, whatever that said
	away                         string    // why the last look found no PostgreSQL; empty: it found one
	newServer                    string    // why the server is not known; empty: it is
	conflict                     bool      // the worker of its function may be a proxy's
}

// Why a database is not answered before its first look, and after its removal.
const (
	notJudged = "the database was not looked at yet"
	notListed = "the database is not listed any more"
)

// undecided is the decision without a look.
func undecided() decision { return decision{idsWhy: notJudged, segmentsWhy: notJudged} }

// set applies a decision.
func (p *permission) set(j decision) {
	p.sessions.Load().Set(j.names)
	p.decision.Store(&j)
}

// part takes the permission from all sessions that have begun, for good. Decisions are about later ones.
func (p *permission) part() {
	p.sessions.Swap(new(statement.Permission)).Set(0)
}

// State is what is known of a listed database, for operators.
func (x *Database) State() report.Database {
	j := x.permission.decision.Load()
	return report.Database{
		Name: x.name, IDs: levelNames[j.ids], IDsWhy: j.idsWhy, IDsHint: j.idsHint,
		Segments: levelNames[j.segments], SegmentsWhy: j.segmentsWhy, Judged: j.at, Found: j.found,
		Away: j.away, NewServer: j.newServer, WorkerConflict: j.conflict,
	}
}

// level is how much of a decision's calls are answered, for operators.
type level uint8

const (
	answerNothing   level = iota
	answerQualified       // calls that name the schema of the function
	answerAll
)

// levelNames are the names of levels for operators.
var levelNames = map[level]string{answerNothing: "none", answerQualified: "qualified", answerAll: "all"}

// levelOf is the level for a function, by the call of a single value.
func levelOf(a namespace.Answers, schema, function string) level {
	switch {
	case !a.Permit(schema + "." + function):
		return answerNothing
	case !a.Permit(function):
		return answerQualified
	}
	return answerAll
}

// decisionOf is what a look has found.
func decisionOf(j namespace.Decision, at time.Time) decision {
	return decision{
		names: statement.NamesOf(slices.Concat(j.IDs.Names, j.Segments.Names, j.Others.Names)...),
		ids:   levelOf(j.IDs, "public", "next_snowflake"), idsWhy: j.IDs.Why,
		segments: levelOf(j.Segments, "pgflurry", "next_segment"), segmentsWhy: j.Segments.Why, at: at, found: at,
		newServer: j.NewServer,
	}
}
