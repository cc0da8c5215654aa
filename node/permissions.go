package node

import (
	"sync/atomic"
	"time"

	"pgflurry/admin"
	"pgflurry/namespace"
	"pgflurry/proxy"
)

// A permission is what sessions to a database may get from memory, and the judgement behind it.
type permission struct {
	sessions  atomic.Pointer[proxy.Permission] // of those that begin now
	judgement atomic.Pointer[judgement]
}

// A judgement is the result of the looks at a database.
type judgement struct {
	ids, segments                proxy.Level
	idsWhy, idsHint, segmentsWhy string
	at                           time.Time // time of the last look that judged; zero: none
	away                         string    // why the last look found no PostgreSQL; empty: it found one
}

// Why a database is not answered before its first look, and after its removal.
const (
	notJudged = "the database was not looked at yet"
	notListed = "the database is not listed any more"
)

// set applies a judgement.
func (p *permission) set(j judgement) {
	sessions := p.sessions.Load()
	sessions.Set(j.ids)
	sessions.SetSegments(j.segments)
	p.judgement.Store(&j)
}

// part takes the permission from all sessions that have begun, for good. Judgements are about later ones.
func (p *permission) part() {
	before := p.sessions.Swap(new(proxy.Permission))
	before.Set(proxy.AnswerNothing)
	before.SetSegments(proxy.AnswerNothing)
}

// judged is the judgement of a listed database, for operators.
func (x *database) judged() admin.Database {
	j := x.permission.judgement.Load()
	return admin.Database{
		Name: x.name, IDs: levelNames[j.ids], IDsWhy: j.idsWhy, IDsHint: j.idsHint,
		Segments: levelNames[j.segments], SegmentsWhy: j.segmentsWhy, Judged: j.at, Away: j.away,
	}
}

// levelNames are the names of levels for operators.
var levelNames = map[proxy.Level]string{
	proxy.AnswerNothing: "none", proxy.AnswerQualified: "qualified", proxy.AnswerAll: "all",
}

// levelOf translates what a database may be answered.
func levelOf(a namespace.Answers) proxy.Level {
	switch {
	case !a.All:
		return proxy.AnswerNothing
	case !a.Unqualified:
		return proxy.AnswerQualified
	}
	return proxy.AnswerAll
}
