// Package sqlfuncs holds the text of the functions that pgflurry puts into a database: one .sql file for each family.
//
// Package migrations runs the files, within one transaction after the migrations. First come those of Files, in their
// order. Then migrations calls pgflurry.create_namespace, and then runs Install. Each file can run again at any time:
// it creates what is missing and replaces what differs.
//
// The transaction sets search_path to "pg_catalog, pg_temp", so every name outside pg_catalog has its schema. One file
// is no function: client_secret.sql makes a row that a table of the migrations needs.
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

// order of installation: a file uses only what the files before it make.
var order = [...]string{
	"functions_in_public.sql",
	"public_names.sql",
	"refuse_foreign.sql",
	"server.sql",
	"revision.sql",
	"new_server.sql",
	"identity.sql",
	"lease_rights.sql",
	"ticks.sql",
	"closing.sql",
	"guards.sql",
	"namespace.sql",
	"next_snowflake.sql",
	"sequence_rights.sql",
	"mend_sequences.sql",
	"next_snowflakes.sql",
	"decode.sql",
	"lifetime.sql",
	"settled.sql",
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

// Which functions of schema pgflurry have an alias in public: the choices of "namespace set --functions".
const (
	Snowflake = "snowflake" // those of IDs
	All       = "all"       // whatever applications call
)

// Names returns the files that define which names in schema public are pgflurry's. They are the first of Files, and
// change nothing in public.
func Names() []File { return Files(0, "")[:2] }

// Ticks returns the file that converts times to ticks. It is enough to check whether IDs are ahead of the clock.
func Ticks() File { return file("ticks.sql") }

// Files returns all families in the order in which they must run. If a function of the user's own is in the way,
// refuse_foreign.sql fails before anything is made in public. pgflurry.revision() will return revision. functions is
// Snowflake or All. If it is empty, the database keeps its choice, and a new one gets Snowflake.
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

// Install writes the layout of the namespace row into the functions that carry it, and makes the aliases in public. The
// row must exist.
func Install() File { return file("install.sql") }

// Drop removes all functions and the sequence that Install made, and none of the user's own. Run Names first. If
// something depends on them, Drop fails and changes nothing.
func Drop() File { return file("drop.sql") }

func file(name string) File {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // embedded: cannot be missing in a program that compiled
	}
	return File{Name: name, SQL: string(text)}
}
