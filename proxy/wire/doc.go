// Package wire knows PostgreSQL's messages, https://www.postgresql.org/docs/current/protocol-message-formats.html:
//
//	kinds.go   the type bytes, and the other codes in messages
//	read.go    formats and parameters of a Bind, the values that an answered form takes
//	write.go   the messages of which an answer is made
//
// Both the proxy, which answers in a session with PostgreSQL, and a session without one write the same bytes by it. It
// does no I/O, keeps nothing, and knows nothing of sessions. All of it may be called concurrently.
package wire
