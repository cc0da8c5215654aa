// Package suites says what each command measures: its trials, the servers that it needs, and its targets.
//
//	IDs           run       sources of IDs over a connection (sources.go); a quick look has few of them, and a
//	                        summary (quick.go)
//	Inserts       insert    a table that is filled with keys of each kind
//	PassThrough   proxy     statements that are only passed on: directly, through PgBouncer, through the proxy
//	Connections   connections   a connection to each server: its memory, the time to connect, an ID
//	Targets       targets   the speeds that pgflurry has to reach, measured with pgbench if possible
//
// Statements are files, so that psql and pgbench can run them as they are. Draws are in sources, other scripts in
// pgbench, tables in inserts, and the rest in sql. If the proxy draws snowflakes, a check makes sure that it answers
// and does not forward (answered.go). Another check makes sure that given servers are what their flags say (given.go).
package suites
