package node

import (
	"pgflurry/report"
)

// tellIDDatabase adds the ID database, if there is one.
func (n *Node) tellIDDatabase(s *report.State) {
	if n.id == nil {
		return
	}
	d := n.current.Load().IDDatabase
	s.IDDatabase = n.id.server.Stats()
	s.IDDatabase.Name, s.IDDatabase.Accounts, s.IDDatabase.Hides = d.Name, n.id.accounts.tell(d), n.id.real.Hides()
}

// tell is what operators see of the accounts.
func (a *accounts) tell(d IDDatabase) report.Accounts {
	if !d.accounts() {
		return report.Accounts{}
	}
	file, t := a.file.Load(), a.trouble.Load()
	told := report.Accounts{
		Needed: true, From: source(file), File: file != nil, MaxAge: d.AuthMaxAge, Problem: t.cause, Hint: t.hint,
	}
	if list := a.list.Load(); list != nil {
		told.Count, told.Read = list.Len(), list.Read()
	}
	return told
}
