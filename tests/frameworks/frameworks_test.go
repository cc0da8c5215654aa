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
	draws         bool   // it draws the IDs of all rows itself, so there are none by DEFAULT
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

func goFramework(name, program, trap string) framework {
	return framework{
		Program: deeds.Program{
			Name: name, Source: "go/" + program + "/main.go",
			Build:   []string{"go", "-C", "go", "build", "-o", "{out}/", "./..."},
			Command: []string{"{out}/" + program}, Packages: "go mod download in tests/frameworks/go",
		},
		folder: "go/" + program, trap: trap,
	}
}

// first is a framework of the first group.
func first(f framework) framework {
	f.First = true
	return f
}

// frameworks are in the order of the page.
var frameworks = slices.Concat([]framework{
	pythonFramework("Django", "django", "python3-django python3-psycopg2",
		"save() of an object with an ID tries an UPDATE first: create() and bulk_create() do not"),
	first(pythonFramework("SQLAlchemy, Alembic", "sqlalchemy", "python3-sqlalchemy python3-alembic python3-psycopg2",
		"2.0 inserts row by row unless IDs are drawn ahead")),
	{
		Program: deeds.Program{
			Name: "Rails (ActiveRecord)", Source: "activerecord/deeds.rb",
			Command:  []string{"ruby", "activerecord/deeds.rb"},
			Packages: "ruby-railties ruby-activerecord ruby-pg rake postgresql-client",
		},
		folder: "activerecord",
		trap:   "structure.sql has no rows: a test database needs the printed text after it",
	},
	first(goFramework("GORM", "gorm", "without autoIncrement:false it makes a bigserial")),
}, nodeFrameworks)
