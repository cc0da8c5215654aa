package admin

import (
	"fmt"
	"time"

	"pgflurry/internal/report"
)

// accountsOld is how long accounts may be unreadable before a warning. A restart of PostgreSQL takes less.
const accountsOld = time.Minute

// idWarnings are the warnings of the ID database.
func idWarnings(s report.State) []Warning {
	d := s.IDDatabase
	if d.Name == "" || s.Draining {
		return nil
	}
	all := accountWarnings(s)
	if d.Full {
		all = append(all, Warning{
			Kind: "id_sessions",
			What: fmt.Sprintf("All %s of the ID database are taken: one more client is turned away.",
				withNoun(d.Limit, "place")),
			Do:       "Raise --max-id-sessions, or let clients share sessions.",
			Commands: []string{fmt.Sprintf("pgflurry serve --max-id-sessions %d …", 2*d.Limit)},
		})
	}
	if d.Hides != "" {
		all = append(all, Warning{
			Kind: "id_database",
			What: fmt.Sprintf("PostgreSQL has a database %s, which nobody reaches through this proxy.",
				oneLine(d.Name)),
			Do: fmt.Sprintf("Give the ID database another name, or that one. It was seen from database %s.",
				oneLine(d.Hides)),
			Commands: []string{"pgflurry serve --id-database OTHER …"},
		})
	}
	return all
}

// accountWarnings warn that accounts are unreadable for long, or that nobody can log in because there are none.
func accountWarnings(s report.State) []Warning {
	a := s.IDDatabase.Accounts
	age := s.At.Sub(a.Read)
	never, stopped := a.Read.IsZero(), a.MaxAge > 0 && age > a.MaxAge
	if !a.Needed || a.Problem == "" || !never && !stopped && age < accountsOld {
		return nil
	}
	w := Warning{
		Kind: "accounts", Severe: never || stopped, Why: a.Problem, Do: a.Hint,
		What:     fmt.Sprintf("Accounts of the ID database were read %s ago: logins go on with those.", lasting(age)),
		Commands: []string{"pgflurry clients list --database URL"},
	}
	switch {
	case never:
		w.What = "Accounts of the ID database were not read yet: nobody can log in there."
	case stopped:
		w.What = fmt.Sprintf("Accounts of the ID database were read %s ago, over %s: nobody can log in there.",
			lasting(age), lasting(a.MaxAge))
	}
	if a.File {
		w.Commands = []string{"ls -l " + quoted(oneLine(a.From))}
	}
	if w.Do == "" {
		w.Do = "Look whether they can be read. The proxy goes on trying by itself."
	}
	return []Warning{w}
}
