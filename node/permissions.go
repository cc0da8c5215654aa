package node

import (
	"pgflurry/namespace"
	"pgflurry/proxy"
)

// permissions holds one Permission per database whose sessions may be answered.
type permissions struct{ byDatabase map[string]*proxy.Permission }

func newPermissions(databases []string) *permissions {
	p := &permissions{byDatabase: make(map[string]*proxy.Permission, len(databases))}
	for _, name := range databases {
		p.byDatabase[name] = &proxy.Permission{}
	}
	return p
}

func (p *permissions) of(database string) *proxy.Permission { return p.byDatabase[database] }

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
