package frameworks

import (
	"slices"

	"pgflurry/tests/support/deeds"
)

// install gets the frameworks.
const install = "tests/frameworks/install"

// framework is one line of the table.
type framework struct {
	deeds.Program        // its name has no "|"
	folder        string // of the program, with section.md
	trap          string // what to know first, for the table
}

// allDeeds are their names, in order.
var allDeeds = []string{"migrate", "insert", "batch", "ahead", "foreign_key", "test_database"}

// python is Debian's, which has Debian's modules.
const python = "/usr/bin/python3"

func pythonFramework(name, folder, packages, trap string) framework {
	return framework{
		Program: deeds.Program{
			Name: name, Source: folder + "/deeds.py", Command: []string{python, folder + "/deeds.py"},
			Environment: []string{"PYTHONPATH=../clients/python", "PYTHONDONTWRITEBYTECODE=1"}, Packages: packages,
		},
		folder: folder, trap: trap,
	}
}

// first is a framework of the first group.
func first(f framework) framework {
	f.First = true
	return f
}

// frameworks are in the order of the page.
var frameworks = slices.Concat([]framework{
	first(pythonFramework("SQLAlchemy, Alembic", "sqlalchemy", "python3-sqlalchemy python3-alembic python3-psycopg2",
		"in 2.0 mark the DEFAULT as a sentinel, or keys are read row by row")),
}, nodeFrameworks)
