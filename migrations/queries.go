package migrations

import (
	_ "embed"

	"pgflurry/internal/queries"
)

//go:embed queries.sql
var queriesSQL string

// sql has the statements of queries.sql.
var sql = queries.Read[struct {
	BeginAnew                                                                  string
	ClosePatience, CloseDatabase, CloseGate, CloseBlockers, Closing            string
	Session, AsOrigin, Leave, Lock, Holder                                     string
	Quiet, Dependents, Orphans, Try, TakeBack, Joined, Left, DropSchema        string
	Functions, Kept, Foreign                                                   string
	Server, Clock, InstalledBy, Recorded, LastApplied                          string
	TakeWorker, LeaveLanes, FunctionMark, BeginAtMark, UnderWay, StillUnderWay string
	Gate, OpenGate, Proxies                                                    string
	Claim, Claimed, Reclaim, GiveBack                                          string
	CreateJoined, FollowHome, FormerMark, JoinCopy, JoinsComplete, TakeClaim   string
	Moved, Evidence, OtherDatabases, MovedLock, MovedElsewhere                 string
	Record, Applied, WithoutRows                                               string
	Forget                                                                     string
	RestartQuarantine, Restart                                                 string
	Rests                                                                      string
	Identify, NewNamespace, CreateNamespace                                    string
	OthersBefore                                                               string
	Unlogged, Unreadable, Standbys, Checkpoint                                 string
	JoinsClosed, Drawers, LockTables                                           string
	Bootstrap, EndClosing, Installed                                           string
	LockWorkers, Quarantine, MaxWindow, LongGrants, Written, Behind            string
	NamedColumn, Newest                                                        string
	NewServer                                                                  string
}](queriesSQL)
