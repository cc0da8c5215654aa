// Package sqlfuncs holds the text of the functions that pgflurry puts into a database: one .sql file a family.
//
// Every file can be run again at any time: it creates what is missing and replaces what differs. They run after the
// migrations, within one transaction, with search_path set to "pg_catalog, pg_temp" (each name outside pg_catalog is
// written with its schema): first those of Files in their order, then the call of pgflurry.create_namespace, then Install.
package sqlfuncs

import "embed"

//go:embed *.sql
var files embed.FS

// A File is one family of functions.
type File struct {
	Name string // such as "ticks.sql"
	SQL  string // any number of statements, for the simple query protocol
}

// order of installation: a file uses only what stands before it.
var order = [...]string{
	"server.sql",
	"ticks.sql",
	"namespace.sql",
	"next_snowflake.sql",
	"next_snowflakes.sql",
	"decode.sql",
	"segment.sql",
}

// Files returns all families in the order in which they must run.
func Files() []File {
	all := make([]File, len(order))
	for i, name := range order {
		all[i] = file(name)
	}
	return all
}

// Install writes the layout of the namespace row into the functions that carry it; the row must be there.
func Install() File { return file("install.sql") }

// Drop removes all functions and the sequence that Install made. It fails, changing nothing, while something depends on them.
func Drop() File { return file("drop.sql") }

func file(name string) File {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // embedded: cannot be missing in a program that compiled
	}
	return File{Name: name, SQL: string(text)}
}
