package namespace

import (
	_ "embed"

	"pgflurry/internal/queries"
)

//go:embed queries.sql
var queriesSQL string

// sql has the statements of queries.sql.
var sql = queries.Read[struct {
	SegmentTable  string
	Look          string
	WeakGuards    string
	MendSequences string
	NoteServer    string
	HoldersBefore string
	Read          string
}](queriesSQL)
