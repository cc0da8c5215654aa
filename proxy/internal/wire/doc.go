// Package wire reads and writes the parts of PostgreSQL's messages that an answer needs. proxy and idserver use it.
// The formats: https://www.postgresql.org/docs/current/protocol-message-formats.html
//
//	startup.go what a StartupMessage asks for
//	kinds.go   the type bytes, and the other codes in messages
//	read.go    formats and parameters of a Bind, the values that an answered form takes
//	write.go   the messages of an answer, errors and notices
//
// The proxy answers in a session with PostgreSQL, package idserver in one without. With this package both write the
// same bytes. It does no I/O, keeps nothing, and knows nothing of sessions. All of it may be called concurrently.
package wire
