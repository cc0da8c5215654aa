// Package sqlfuncs holds the text of the functions that pgflurry puts into a database: one .sql file a family.
//
// Every file can be run again at any time: it creates what is missing and replaces what differs. The files
// run after the migrations, in the order of Files, within one transaction, with search_path set to
// "pg_catalog, pg_temp" (each name outside pg_catalog is written with its schema).
package sqlfuncs

import "embed"

//go:embed ticks.sql
var files embed.FS

// A File is one family of functions.
type File struct {
	Name string // such as "ticks.sql"
	SQL  string // any number of statements, for the simple query protocol
}

// order of installation: a file uses only what stands before it.
var order = [...]string{
	"ticks.sql",
}

// Files returns all families in the order in which they must run.
func Files() []File {
	all := make([]File, len(order))
	for i, name := range order {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // embedded: cannot be missing in a program that compiled
		}
		all[i] = File{Name: name, SQL: string(text)}
	}
	return all
}
