// Package rows is the worker table in memory: what acquire.sql, renew.sql, release.sql, reseed.sql and retire.sql of
// package lease decide, written down once more in Go, so that thousands of histories a second can be led over it
// (tests/simulation).
//
// Its test loads any state into PostgreSQL, runs the statement there and here, and compares answer and state; and it
// changes the statements, one guard at a time, to see that the comparison notices.
package rows
