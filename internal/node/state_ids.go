package node

import (
	"pgflurry/internal/report"
)

// fillIDDatabase adds the ID database, if there is one.
func (n *Node) fillIDDatabase(s *report.State) {
	if n.id == nil {
		return
	}
	d := n.current.Load().IDDatabase
	s.IDDatabase = n.id.server.Stats()
	s.IDDatabase.Name, s.IDDatabase.Accounts, s.IDDatabase.Hides = d.Name, n.id.accounts.Report(), n.id.real.Hides()
	s.IDDatabase.Accounts.MaxAge = d.AuthMaxAge
}
