// Package command reads what a text of SQL asks of a session without PostgreSQL. Package idserver calls Read for each
// Query and Parse, and runs the commands.
//
//	text ─► read.go ─► statements ─► statement.Match ─► Draw
//	                        └──────► tokens ─┬─► transaction, setting, cursor, prepared: the other commands
//	                                         └─► query ─► select ─► operand: Select; catalog: Catalog
//
//	query.go: the query of a statement: IDs, a Select, which has no table, or a Catalog
//	catalog.go: lookups of drivers in the catalogs, answered without rows
//	function.go: what a SELECT may call
//	value.go, decode.go, type.go, parameters.go: values, and the types of parameters and columns
//
// The grammar is functions over tokens (tokens.go). No file needs one that needs it, directly or through others.
//
// A text becomes commands, or one error. The error has what a client may read: SQLSTATE, sentence, hint. If one
// statement of a text has no answer, the whole text is refused before anything in it runs.
//
// What is read is what some driver of docs/clients.md sends by itself. A column of a Select is a constant, a sum or a
// call, perhaps with a label. Nothing is nested.
//
// A session knows settings, transactions, prepared statements, cursors and IDs. This package knows none of them. A
// SELECT asks an Environment for what it needs of the session.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. If Read splits a text into n commands, PostgreSQL's parser splits it into n statements.
//  2. A statement draws IDs if and only if statement.Match says so.
//  3. What Read accepts, PostgreSQL accepts, with the same tag, labels, types, and bytes of constants. The types of a
//     Catalog are text.
//  4. No text panics, and the work is linear in its length.
//  5. An error is ASCII, and contains at most 120 characters of the client's text.
//  6. There is no state: any function may be called concurrently, and no command refers to the text it was read from.
package command
