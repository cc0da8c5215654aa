package session

import (
	_ "embed"

	"pgflurry/internal/queries"
)

//go:embed queries.sql
var queriesSQL string

// sql has the statements of queries.sql.
var sql = queries.Read[struct {
	Session, AsOrigin, Leave, Lock, Holder            string
	Server, Clock, InstalledBy, Recorded, LastApplied string
}](queriesSQL)
