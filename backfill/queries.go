package backfill

import (
	_ "embed"

	"pgflurry/queries"
)

//go:embed queries.sql
var text string

// sql has the statements of queries.sql.
var sql = queries.Read[struct {
	Find     string
	Settings string
	Look     string
	Prepare  string
	Count    string
	Path     string
}](text)
