// Package command reads what a text of SQL asks of a session that has no PostgreSQL behind it.
//
//	text ─► read.go ─► statements ─► statement.Match ─► Draw
//	                        └──────► parser.go ─┬─────► transaction, setting, cursor, prepared: the other commands
//	                                            └─────► select, expression, function: Select, which has no table
//
//	catalog.go: what drivers ask of the catalogs, answered by no rows
//	type.go, value.go and cast.go: the types and values of parameters and of what a SELECT gives
//
// A text becomes commands, or one error. The error carries what a client may read: SQLSTATE, sentence, hint. One
// statement that is not answered refuses the whole text, before any other of it has run.
//
// A session knows settings, transactions, prepared statements, cursors and IDs. This package knows none of them: what
// a SELECT needs of a session it asks of an Environment.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. What Read splits into n commands, PostgreSQL's parser splits into n statements.
//  2. A statement draws IDs if statement.Match says so, and never else.
//  3. What Read accepts, PostgreSQL accepts, with the same tag, labels, types, and bytes of constants.
//  4. No text panics, and the work is linear in its length.
//  5. An error is ASCII, and holds at most 120 characters of the client's text.
//  6. There is no state: any function may be called concurrently, and no command refers to the text it was read from.
package command
