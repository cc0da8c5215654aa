// Package printed runs the output of "pgflurry migrate print" as a migration of other tools, each for real. It compares
// the database with one that "pgflurry migrate up" made. It also runs each command of docs/test-databases.md as the
// page has it, and measures how long a database for tests takes to make.
package printed
