package doctor

import (
	_ "embed"

	"pgflurry/internal/queries"
)

//go:embed queries.sql
var queriesSQL string

// sql has the statements of queries.sql.
var sql = queries.Read[struct {
	Server, Settings, Signs                   string
	Timeline, SystemIdentifier, Statistics    string
	Standbys, Connections, Lacking, Lane      string
	MakeMarker, SetMarker, Marker, DropMarker string
}](queriesSQL)
