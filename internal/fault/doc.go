// Package fault has the texts of what goes wrong, and what an error brings for people: a hint, and an exit code.
//
//	error.go    the error that a client reads, and those that a client of any database of the proxy can get
//	hint.go     what to do next, as whole sentences: a program prints it below the error, a log line has it beside
//	kind.go     the kind of an error, whose number is the exit code of a program that ends by it
//	reason.go   the one table of reasons why a node has no worker, or why its lease is not renewed
//
// A row of the table has the line of the log, what a client of the ID database reads, and what the status page says. It
// also says what to do. lease logs by the table, node tells clients, and admin shows it. docs/troubleshooting.md has a
// row for each line of the log.
package fault
