package migrations

import (
	_ "embed"

	"pgflurry/internal/queries"
)

//go:embed queries.sql
var queriesSQL string

// sql has the statements of queries.sql.
var sql = queries.Read[struct {
	Quiet, Dependents, Orphans, Try, TakeBack, Joined, Left, DropSchema string
	Functions, Kept, Foreign                                            string
	Proxies                                                             string
	Record, Applied, WithoutRows                                        string
	Rests                                                               string
	Unlogged, Unreadable, Standbys, Checkpoint                          string
	JoinsClosed, Drawers, LockTables                                    string
	Bootstrap, EndClosing, Installed                                    string
}](queriesSQL)
