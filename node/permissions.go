package node

import (
	"sync/atomic"
	"time"

	"pgflurry/admin"
	"pgflurry/namespace"
	"pgflurry/proxy"
)

// A permission is what sessions to a database may get from memory, and what that rests on.
type permission struct {
	proxy.Permission
	judgement atomic.Pointer[judgement]
}

// A judgement is what the looks at a database have come to.
type judgement struct {
	ids, segments                proxy.Level
	idsWhy, idsHint, segmentsWhy string
	at                           time.Time // of the last look that judged it; zero: none
}

// Why nothing is answered in a database at first, and at last.
const (
	notJudged = "the database was not looked at yet"
	notListed = "the database is not listed any more"
)

// set takes a judgement over.
func (p *permission) set(j judgement) {
	p.Permission.Set(j.ids)
	p.SetSegments(j.segments)
	p.judgement.Store(&j)
}

// judged tells what sessions of a listed database get, and why not more.
func (x *database) judged() admin.Database {
	j := x.permission.judgement.Load()
	return admin.Database{
		Name: x.name, IDs: levelNames[j.ids], IDsWhy: j.idsWhy, IDsHint: j.idsHint,
		Segments: levelNames[j.segments], SegmentsWhy: j.segmentsWhy, Judged: j.at,
	}
}

// levelNames are what levels are called to operators.
var levelNames = map[proxy.Level]string{
	proxy.AnswerNothing: "none", proxy.AnswerQualified: "qualified", proxy.AnswerAll: "all",
}

// levelOf is what sessions may get of a database that was judged so.
func levelOf(a namespace.Answers) proxy.Level {
	switch {
	case !a.All:
		return proxy.AnswerNothing
	case !a.Unqualified:
		return proxy.AnswerQualified
	}
	return proxy.AnswerAll
}
