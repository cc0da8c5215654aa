// Package demo is the life of "pgflurry demo". It has a PostgreSQL, private or given, and the proxy before it. A few
// IDs prove that it works.
//
//	demo.go    Run: server, migration, proxy, and the end in the reverse order
//	server.go  the PostgreSQL: found, started, or given
//	proof.go   the first IDs, each drawn in another way, and the lines to paste
package demo
