package primary

import (
	_ "embed"

	"pgflurry/internal/queries"
)

//go:embed queries.sql
var queriesSQL string

// sql has the statements of queries.sql.
var sql = queries.Read[struct {
	Ask, AskTimeline, AskRecovery string
}](queriesSQL)
