//go:build full

package frameworks

import (
	"slices"
	"strings"

	"pgflurry/tests/support/deeds"
)

// install is the script that installs the frameworks.
const install = "tests/frameworks/install"

// framework is a row of the table.
type framework struct {
	deeds.Program        // its name has no "|"
	trap          string // the first thing to know about it, for the table
	draws         bool   // it draws all IDs itself, and leaves none to the DEFAULT
}

// allDeeds has the names in order.
var allDeeds = []string{"migrate", "insert", "batch", "ahead", "foreign_key", "test_database"}

// python is Debian's interpreter, which finds Debian's modules.
const python = "/usr/bin/python3"

func pythonFramework(name, folder, packages, trap string) framework {
	return framework{
		Program: deeds.Program{
			Name: name, Source: folder + "/deeds.py", Command: []string{python, folder + "/deeds.py"},
			Environment: []string{"PYTHONPATH=../clients/python", "PYTHONDONTWRITEBYTECODE=1"}, Packages: packages,
		},
		trap: trap,
	}
}

func goFramework(name, program, trap string) framework {
	return framework{
		Program: deeds.Program{
			Name: name, Source: "go/" + program + "/main.go",
			Build:   []string{"go", "-C", "go", "build", "-o", "{out}/", "./..."},
			Command: []string{"{out}/" + program}, Packages: "go mod download in tests/frameworks/go",
		},
		trap: trap,
	}
}

// jars returns a class path of Debian's jars.
func jars(names ...string) string {
	return "/usr/share/java/" + strings.Join(names, ".jar:/usr/share/java/") + ".jar"
}

// javaFramework builds the classes of a folder, together with the report of tests/clients.
func javaFramework(name, folder, jars, packages, trap string) framework {
	out := "{out}/" + folder
	return framework{
		Program: deeds.Program{
			Name: name, Source: folder + "/Deeds.java",
			Build: []string{
				"javac", "-Xlint:-options", "-cp", jars, "-sourcepath", folder + ":../clients/jdbc", "-d", out,
				folder + "/Deeds.java", folder + "/Snowflakes.java",
			},
			Command: []string{
				"java", "-XX:TieredStopAtLevel=1", "--add-opens", "java.base/java.lang=ALL-UNNAMED",
				"-cp", strings.Join([]string{jars, folder, out}, ":"), "Deeds",
			},
			Packages: "default-jdk-headless libpostgresql-jdbc-java " + packages,
		},
		trap: trap,
	}
}

// drawing marks a framework that draws all IDs itself.
func drawing(f framework) framework {
	f.draws = true
	return f
}

// first marks a framework of the first group.
func first(f framework) framework {
	f.First = true
	return f
}

// frameworks are in the order of the page.
var frameworks = slices.Concat([]framework{
	pythonFramework("Django", "django", "python3-django python3-psycopg2",
		"`save()` of an object with an ID tries an UPDATE first: `create()` does not"),
	first(pythonFramework("SQLAlchemy, Alembic", "sqlalchemy", "python3-sqlalchemy python3-alembic python3-psycopg2",
		"2.0 inserts row by row unless IDs are drawn ahead")),
	{
		Program: deeds.Program{
			Name: "Rails (ActiveRecord)", Source: "activerecord/deeds.rb",
			Command:  []string{"ruby", "activerecord/deeds.rb"},
			Packages: "ruby-railties ruby-activerecord ruby-pg rake postgresql-client",
		},
		trap: "`structure.sql` leaves pgflurry out: a test database needs the printed text before it",
	},
	{
		Program: deeds.Program{
			Name: "Laravel (Eloquent)", Source: "laravel/deeds.php",
			Command:  []string{"php", "laravel/deeds.php"},
			Packages: "php-illuminate-database php-illuminate-events php-illuminate-filesystem php-pgsql",
		},
		trap: "`attach()` runs no event of a model: leave the key to the DEFAULT",
	},
	drawing(framework{
		Program: deeds.Program{
			Name: "Doctrine ORM", Source: "doctrine/deeds.php",
			Command:  []string{"php", "doctrine/deeds.php"},
			Packages: "php-doctrine-orm php-pgsql",
		},
		trap: "a generator class draws ahead",
	}),
	first(goFramework("GORM", "gorm", "without `autoIncrement:false` it makes a bigserial")),
	goFramework("sqlc 1.31, goose", "sqlc", "`:copyfrom` gives no keys back: draw them ahead"),
	drawing(javaFramework("EclipseLink (JPA)", "eclipselink",
		jars("eclipselink", "eclipselink-jpa-2.1-spec", "org.eclipse.persistence.jpa.jpql", "postgresql"),
		"libeclipselink-java libjpa-2.1-spec-java", "a sequence class draws ahead")),
	javaFramework("Hibernate", "hibernate",
		jars("hibernate-core", "geronimo-jpa_2.0_spec", "geronimo-jta-1.2-spec", "hibernate-commons-annotations",
			"dom4j", "antlr", "commons-collections3", "javassist", "slf4j-api", "slf4j-nop", "postgresql"),
		"libhibernate3-java libjavassist-java", "IDENTITY turns batching off; a generator class draws ahead"),
}, nodeFrameworks)
