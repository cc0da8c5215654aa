// Package idle measures two costs of many clients. The first is the memory of a session that does nothing, with ten
// thousand open. The second is ten thousand clients that log in to the ID database at once.
//
//	go test -tags full -run '^$' -bench Idle ./tests/idle
//	go test -tags full -run '^$' -bench Login ./tests/idle
//
// # Idle sessions
//
// There are three processes, so that each has enough descriptors and the proxy can be measured alone. The benchmark has
// the clients. One child is the proxy. Another child is a scripted upstream, which greets as PostgreSQL does. Before a
// session falls idle it draws an ID from memory and runs a statement on upstream. So it owns all that a session owns
// after work.
//
// The figures are KiB per session, compared with the same process before the first session. RSS/session is the resident
// memory at once, and collected-RSS/session the same after the garbage was given back. The stacks and the live heap are
// parts of the latter. kernel/session is the kernel's slab memory for all four ends of a session's two connections. No
// process is charged for that. -profile=FILE writes the proxy's heap profile.
//
// Sessions of the ID database have no upstream, so there is no third process. Each logs in by SCRAM and draws two IDs:
// one by a Query, one by a prepared statement.
//
// # Logins at once
//
// The server is "pgflurry serve" as users run it. All clients connect at the same moment, from one address. s is the
// time until the last one has logged in. s-of-iterations is the time in which all processors together could do just the
// 4,096 iterations of all clients. In the second benchmark the clients have derived their keys before. Its s is the
// part of the server and the kernel, and should be below s-of-iterations. Processor time is that of user and system
// mode, so each side includes its own half of the loopback.
package idle
