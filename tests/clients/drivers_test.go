//go:build full

package clients

import "pgflurry/tests/support/deeds"

// driver is a row of the table.
type driver struct {
	deeds.Program
	remark string // for the table's last column
}

// install is the script that installs the drivers.
const install = "tests/clients/install"

// allDeeds has the names in order. bareDeeds has those that need no table.
var (
	allDeeds = []string{
		"password", "scram", "tls", "unprepared", "prepared", "pipeline", "mixed", "transaction", "copy", "notify",
		"cancel", "default", "pool", "parallel",
	}
	bareDeeds = []string{
		"scram", "tls", "unprepared", "prepared", "pipeline", "mixed", "commit", "pool", "parallel",
	}
)

const (
	jars   = "/usr/share/java/postgresql.jar:/usr/share/java/HikariCP.jar:/usr/share/java/slf4j-api.jar"
	python = "/usr/bin/python3" // Debian's, which has Debian's modules
)

func pythonDriver(name, program, packages string) driver {
	return driver{Program: deeds.Program{
		Name: name, Source: program, Command: []string{python, program}, Packages: packages,
	}}
}

func nodeDriver(name, program string) driver {
	return driver{Program: deeds.Program{
		Name: name, Source: program, Command: []string{"node", program},
		Packages: "nodejs, npm ci in tests/clients/node",
	}}
}

func goDriver(name, program, mode string) driver {
	return driver{Program: deeds.Program{
		Name: name, Source: "go/" + program + "/main.go",
		Build:   []string{"go", "-C", "go", "build", "-o", "{out}/", "./..."},
		Command: []string{"{out}/" + program}, Mode: mode, Packages: "go mod download in tests/clients/go",
	}}
}

func jdbcDriver(name, mode string) driver {
	return driver{Program: deeds.Program{
		Name: name, Source: "jdbc/Deeds.java",
		Build:   []string{"javac", "-Xlint:all", "-cp", jars, "-d", "{out}", "jdbc/Deeds.java", "jdbc/Report.java"},
		Command: []string{"java", "-XX:TieredStopAtLevel=1", "-cp", jars + ":{out}", "Deeds"},
		Mode:    mode, Packages: "default-jdk-headless libpostgresql-jdbc-java libhikaricp-java",
	}}
}

func (d driver) in(mode string) driver {
	d.Mode = mode
	return d
}

func (d driver) saying(remark string) driver {
	d.remark = remark
	return d
}

// scripted is a driver whose program needs only an interpreter.
func scripted(name, interpreter, program, packages string) driver {
	return driver{Program: deeds.Program{
		Name: name, Source: program, Command: []string{interpreter, program}, Packages: packages,
	}}
}

func inFirstGroup(all ...driver) []driver {
	for i := range all {
		all[i].First = true
	}
	return all
}

var drivers = append(inFirstGroup(
	scripted("psql", "bash", "psql/deeds", "postgresql-client").saying("EXECUTE in SQL is PostgreSQL's"),
	goDriver("pgx, cache_statement (its default)", "pgx", "cache_statement"),
	goDriver("pgx, cache_describe", "pgx", "cache_describe"),
	goDriver("pgx, describe_exec", "pgx", "describe_exec"),
	goDriver("pgx, exec", "pgx", "exec"),
	goDriver("pgx, simple_protocol", "pgx", "simple_protocol").saying("a batch is one Query of many statements"),
	goDriver("lib/pq", "pq", ""),
	goDriver("lib/pq, binary_parameters=yes", "pq", "binary_parameters=yes"),
	pythonDriver("psycopg 3", "python/with_psycopg3.py", "python3-psycopg python3-psycopg-pool").
		saying("in a pipeline, prepare=False keeps the IDs with the proxy"),
	pythonDriver("psycopg 2", "python/with_psycopg2.py", "python3-psycopg2").saying("EXECUTE in SQL is PostgreSQL's"),
	jdbcDriver("JDBC", ""),
	jdbcDriver("JDBC, prepareThreshold=1", "prepareThreshold=1").
		saying("prepares at once, so one execution alone is PostgreSQL's"),
	jdbcDriver("JDBC, prepareThreshold=-1 (binary from the first)", "prepareThreshold=-1"),
	jdbcDriver("JDBC, binaryTransfer=false", "binaryTransfer=false"),
	jdbcDriver("JDBC, preferQueryMode simple", "preferQueryMode=simple"),
	jdbcDriver("JDBC, preferQueryMode extendedForPrepared", "preferQueryMode=extendedForPrepared"),
	jdbcDriver("JDBC, preferQueryMode extendedCacheEverything", "preferQueryMode=extendedCacheEverything"),
	nodeDriver("node-postgres (pg)", "node/with_pg.js"),
	nodeDriver("postgres.js (postgres)", "node/with_postgres.js"),
), []driver{
	pythonDriver("asyncpg", "python/with_asyncpg.py", "python3-asyncpg"),
	scripted("DBD::Pg", "perl", "perl/with_dbd_pg.pl", "libdbd-pg-perl"),
	scripted("ruby-pg", "ruby", "ruby/with_pg.rb", "ruby-pg"),
	scripted("PHP PDO", "php", "php/with_pdo.php", "php-cli php-pgsql"),
	scripted("PHP PDO, emulated prepares", "php", "php/with_pdo.php", "php-cli php-pgsql").in("emulate"),
	pythonDriver("ODBC (psqlODBC)", "python/with_pyodbc.py", "unixodbc odbc-postgresql python3-pyodbc"),
	pythonDriver("ODBC (psqlODBC), UseServerSidePrepare=0", "python/with_pyodbc.py",
		"unixodbc odbc-postgresql python3-pyodbc").in("UseServerSidePrepare=0"),
	pythonDriver("ODBC (psqlODBC), UseDeclareFetch=1", "python/with_pyodbc.py",
		"unixodbc odbc-postgresql python3-pyodbc").in("UseDeclareFetch=1").saying("a cursor in SQL is PostgreSQL's"),
	scripted("Tcl (Pgtcl)", "tclsh", "tcl/with_pgtcl.tcl", "tcl libpgtcl").
		saying("EXECUTE in SQL is PostgreSQL's"),
	goDriver("GORM", "gorm", ""),
	pythonDriver("Django", "python/with_django.py", "python3-django python3-psycopg2"),
	pythonDriver("SQLAlchemy", "python/with_sqlalchemy.py", "python3-sqlalchemy python3-psycopg2"),
	nodeDriver("Drizzle", "node/with_drizzle.js"),
}...)
