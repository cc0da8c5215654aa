package node

import (
	"sync/atomic"
	"time"

	"pgflurry/admin"
	"pgflurry/namespace"
	"pgflurry/proxy"
)

// permissions holds one Permission per database whose sessions may be answered, and what it rests on.
type permissions struct{ byDatabase map[string]*permission }

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

func newPermissions(databases []string) *permissions {
	p := &permissions{byDatabase: make(map[string]*permission, len(databases))}
	for _, name := range databases {
		p.byDatabase[name] = &permission{}
		p.byDatabase[name].judgement.Store(&judgement{idsWhy: notJudged, segmentsWhy: notJudged})
	}
	return p
}

// notJudged is why nothing is answered in a database at first.
const notJudged = "the database was not looked at yet"

func (p *permissions) of(database string) *proxy.Permission {
	if permission := p.byDatabase[database]; permission != nil {
		return &permission.Permission
	}
	return nil
}

// set takes a judgement over.
func (p *permission) set(j judgement) {
	p.Permission.Set(j.ids)
	p.SetSegments(j.segments)
	p.judgement.Store(&j)
}

// judged tells what sessions of a listed database get, and why not more.
func (p *permissions) judged(database string) admin.Database {
	j := p.byDatabase[database].judgement.Load()
	return admin.Database{
		Name: database, IDs: levelNames[j.ids], IDsWhy: j.idsWhy, IDsHint: j.idsHint,
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
