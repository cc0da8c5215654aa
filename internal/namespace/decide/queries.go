package decide

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
	TakeWorker, LeaveLanes, FunctionMark, BeginAtMark, UnderWay, StillUnderWay string
	Gate, OpenGate                                                             string
	Claim, Claimed, Reclaim, GiveBack                                          string
	CreateJoined, FollowHome, FormerMark, JoinCopy, JoinsComplete, TakeClaim   string
	Moved, Evidence, OtherDatabases, MovedLock, MovedElsewhere                 string
	Forget                                                                     string
	RestartQuarantine, Restart                                                 string
	Identify, NewNamespace, CreateNamespace                                    string
	OthersBefore                                                               string
	LockWorkers, Quarantine, MaxWindow, LongGrants, Written, Behind            string
	NamedColumn, Newest                                                        string
	NewServer                                                                  string
}](queriesSQL)
