package clients

// driver is one line of the table.
type driver struct {
	name     string   // as the table shows it
	language string   // of the snippet, as Markdown names it
	program  string   // source below this folder; the page shows its snippet
	build    []string // command that makes the program, if it must be made; {out} is a folder for it
	command  []string // runs it
	mode     string   // CLIENT_MODE
	packages string   // what has it in Debian and npm
	remark   string   // for the table
	first    bool     // one of the first group, which CI runs
}

const (
	jars   = "/usr/share/java/postgresql.jar:/usr/share/java/HikariCP.jar:/usr/share/java/slf4j-api.jar"
	python = "/usr/bin/python3" // Debian's, which has Debian's modules
)

func pythonDriver(name, program, packages string) driver {
	return driver{
		name: name, language: "python", program: program, command: []string{python, program}, packages: packages,
	}
}

func nodeDriver(name, program string) driver {
	return driver{
		name: name, language: "js", program: program, command: []string{"node", program},
		packages: "nodejs, npm ci in tests/clients/node",
	}
}

func goDriver(name, program, mode string) driver {
	return driver{
		name: name, language: "go", program: "go/" + program + "/main.go",
		build:   []string{"go", "-C", "go", "build", "-o", "{out}/", "./..."},
		command: []string{"{out}/" + program}, mode: mode, packages: "go mod download in tests/clients/go",
	}
}

func jdbcDriver(name, mode string) driver {
	return driver{
		name: name, language: "java", program: "jdbc/Deeds.java",
		build:   []string{"javac", "-Xlint:all", "-cp", jars, "-d", "{out}", "jdbc/Deeds.java", "jdbc/Report.java"},
		command: []string{"java", "-XX:TieredStopAtLevel=1", "-cp", jars + ":{out}", "Deeds"},
		mode:    mode, packages: "default-jdk-headless libpostgresql-jdbc-java libhikaricp-java",
	}
}

func (d driver) in(mode string) driver {
	d.mode = mode
	return d
}

func (d driver) saying(remark string) driver {
	d.remark = remark
	return d
}

// scripted is a driver of a language whose programs need nothing but an interpreter.
func scripted(name, language, interpreter, program, packages string) driver {
	return driver{
		name: name, language: language, program: program, command: []string{interpreter, program}, packages: packages,
	}
}

func inFirstGroup(all ...driver) []driver {
	for i := range all {
		all[i].first = true
	}
	return all
}

var drivers = append(inFirstGroup(
	scripted("psql", "sql", "bash", "psql/deeds", "postgresql-client").saying("EXECUTE in SQL is PostgreSQL's"),
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
	scripted("DBD::Pg", "perl", "perl", "perl/with_dbd_pg.pl", "libdbd-pg-perl"),
	scripted("ruby-pg", "ruby", "ruby", "ruby/with_pg.rb", "ruby-pg"),
	scripted("PHP PDO", "php", "php", "php/with_pdo.php", "php-cli php-pgsql"),
	scripted("PHP PDO, emulated prepares", "php", "php", "php/with_pdo.php", "php-cli php-pgsql").in("emulate"),
	pythonDriver("ODBC (psqlODBC)", "python/with_pyodbc.py", "unixodbc odbc-postgresql python3-pyodbc"),
	pythonDriver("ODBC (psqlODBC), UseServerSidePrepare=0", "python/with_pyodbc.py",
		"unixodbc odbc-postgresql python3-pyodbc").in("UseServerSidePrepare=0"),
	pythonDriver("ODBC (psqlODBC), UseDeclareFetch=1", "python/with_pyodbc.py",
		"unixodbc odbc-postgresql python3-pyodbc").in("UseDeclareFetch=1").saying("a cursor in SQL is PostgreSQL's"),
	scripted("Tcl (Pgtcl)", "tcl", "tclsh", "tcl/with_pgtcl.tcl", "tcl libpgtcl").
		saying("EXECUTE in SQL is PostgreSQL's"),
	goDriver("GORM", "gorm", ""),
	pythonDriver("Django", "python/with_django.py", "python3-django python3-psycopg2"),
	pythonDriver("SQLAlchemy", "python/with_sqlalchemy.py", "python3-sqlalchemy python3-psycopg2"),
	nodeDriver("Drizzle", "node/with_drizzle.js"),
}...)
