// Package idle measures what a session costs the proxy's process that does nothing, with ten thousand of them open.
//
//	go test -run '^$' -bench Idle ./tests/idle
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
package idle
