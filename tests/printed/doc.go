// Package printed runs what "pgflurry migrate print" writes as a migration of other tools, each for real, and compares
// the database with that of "pgflurry migrate up". It runs each command of docs/test-databases.md as it stands there,
// and measures how long a database for tests takes to make.
package printed
