// Package suites says what each command measures: its trials, the servers that it needs, and its targets.
//
//	IDs           run       the sources of IDs over a connection (sources.go), drawn from by drivers; a quick look has
//	                        few of them, and a summary (quick.go)
//	Inserts       insert    a table that is filled with keys of each kind
//	PassThrough   proxy     statements that are passed on: directly, through PgBouncer, through the proxy
//	Connections   connections   a connection to each server: its memory, the time until it is there, an ID of it
//	Targets       targets   what pgflurry has to reach, with pgbench wherever it can
//
// Statements are files, so that they run with psql and pgbench as they are: sources has draws, pgbench other
// scripts, inserts tables, and sql the rest. Turns of the proxy that draw snowflakes are checked to be answered,
// not forwarded (answered.go). Servers that run already are asked first whether they are what their flags say
// (given.go).
package suites
