// Package idle measures what a session costs the proxy's process that does nothing, with ten thousand of them open, and
// how ten thousand clients log in to the ID database at once.
//
//	go test -run '^$' -bench Idle ./tests/idle
//	go test -run '^$' -bench Login ./tests/idle
//
// # Idle sessions
//
// There are three processes, so that each has descriptors enough and the figures are the proxy's alone. The benchmark
// is the clients, one child of it the proxy, another the upstream, which is scripted and greets as PostgreSQL does.
// Every session draws an ID from memory and runs a statement of upstream's before it falls idle, so it owns whatever a
// session that has worked owns.
//
// The figures are KiB per session, against the same process before the first one. RSS/session is resident memory as it
// is, collected-RSS/session the same after the garbage was given back. The stacks and the live heap are parts of the
// latter. kernel/session is the kernel's slabs for all four ends of its two connections, which no process is charged
// for. -profile=FILE writes the proxy's heap profile.
//
// Sessions of the ID database have no upstream, and no third process. Each logs in by SCRAM, and draws an ID by a Query
// and one of a prepared statement.
//
// # Logins at once
//
// The server is "pgflurry serve" as users run it. All clients connect at the same moment, from one address. s is the
// time until the last one is logged in. s-of-iterations is the time that all processors together would need for the
// 4,096 iterations of all clients, and for nothing else. In the second benchmark the clients have derived their keys
// before: its s is what the server and the kernel need, and is to be below s-of-iterations. Processor time is that of
// user and system mode, so each side has its own half of the loopback in it.
package idle
