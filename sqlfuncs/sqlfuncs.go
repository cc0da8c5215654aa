// Package sqlfuncs holds the text of the functions that pgflurry puts into a database: one .sql file a family. One file
// makes a row that a table of the migrations needs (client_secret.sql).
//
// Every file can be run again at any time: it creates what is missing and replaces what differs. They run after
// the migrations, within one transaction, with search_path set to "pg_catalog, pg_temp"; each name outside
// pg_catalog is written with its schema. First come those of Files in their order, then the call of
// pgflurry.create_namespace, then Install.
package sqlfuncs

import (
	"embed"
	"fmt"
)

//go:embed *.sql
var files embed.FS

// A File is one family of functions.
type File struct {
	Name string // such as "ticks.sql"
	SQL  string // any number of statements, for the simple query protocol
}

// order of installation: a file uses only what stands before it.
var order = [...]string{
	"functions_in_public.sql",
	"public_names.sql",
	"refuse_foreign.sql",
	"server.sql",
	"revision.sql",
	"identity.sql",
	"lease_rights.sql",
	"searched.sql",
	"ticks.sql",
	"namespace.sql",
	"next_snowflake.sql",
	"sequence_rights.sql",
	"mend_sequences.sql",
	"next_snowflakes.sql",
	"decode.sql",
	"lifetime.sql",
	"segment.sql",
	"arguments.sql",
	"auto_increment.sql",
	"offset_sequences.sql",
	"replace_id.sql",
	"counter.sql",
	"token.sql",
	"lock.sql",
	"convert_steps.sql",
	"convert.sql",
	"plan_widening.sql",
	"plan_swap.sql",
	"plan_conversion.sql",
	"snowflake_text.sql",
	"base32.sql",
	"uuid.sql",
	"client_secret.sql",
}

// Which functions of schema pgflurry have an alias in public: the choices of "migrate up --functions".
const (
	Snowflake = "snowflake" // those of IDs
	All       = "all"       // whatever applications call
)

// Names says which names in schema public are pgflurry's. They are the first of Files, and change nothing in public.
func Names() []File { return Files(0, "")[:2] }

// Ticks counts time in ticks, as Files does; alone it is enough to judge whether IDs are ahead of the clock.
func Ticks() File { return file("ticks.sql") }

// Files returns all families in the order in which they must run. refuse_foreign.sql fails, before anything is made in
// public, if a function of the user's own is in the way. revision is what pgflurry.revision() tells. functions is
// Snowflake or All; empty: as the database remembers, and Snowflake in a new one.
func Files(revision int, functions string) []File {
	filled := map[string]any{"functions_in_public.sql": functions, "revision.sql": revision}
	all := make([]File, len(order))
	for i, name := range order {
		all[i] = file(name)
		if value, is := filled[name]; is {
			all[i].SQL = fmt.Sprintf(all[i].SQL, value)
		}
	}
	return all
}

// Install writes the layout of the namespace row into the functions that carry it, and makes the aliases in public; the
// row must be there.
func Install() File { return file("install.sql") }

// Drop removes all functions and the sequence that Install made, and none of the user's own. Names must have run. It
// fails, changing nothing, while something depends on them.
func Drop() File { return file("drop.sql") }

func file(name string) File {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // embedded: cannot be missing in a program that compiled
	}
	return File{Name: name, SQL: string(text)}
}
