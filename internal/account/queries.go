package account

import (
	_ "embed"

	"pgflurry/internal/queries"
)

//go:embed queries.sql
var queriesSQL string

// sql has the statements of queries.sql.
var sql = queries.Read[struct {
	Put, Expire, Remove string
	Read                string
}](queriesSQL)
