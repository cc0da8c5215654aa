package partition

import (
	_ "embed"

	"pgflurry/queries"
)

//go:embed queries.sql
var queriesSQL string

// sql has the statements of queries.sql.
var sql = queries.Read[struct {
	Session, Backend, Exclude, Usable string
	Table, Parts, Left                string
	Starts, Times, First, Taken       string
	Head, Begin, Commit, RollBack     string
	Create, Own, Identify, Attach     string
	Comment, Detach, Finalize, Drop   string
}](queriesSQL)
