// Package suites says what each command measures: its trials, the servers that it needs, and its targets.
//
//	IDs           run       sources of IDs over a connection; a quick look has few of them (quick.go)
//	Inserts       insert    a table that is filled with keys of each kind
//	PassThrough   proxy     statements that are only passed on: directly, and through each server in front
//
// Statements are files, so that psql and pgbench can run them as they are. Draws are in sources, other scripts in
// pgbench, tables in inserts, the rest in sql. If the proxy draws snowflakes, a check makes sure that it answers and
// does not forward (answered.go). Another makes sure that given servers are what their flags say (given.go).
package suites
