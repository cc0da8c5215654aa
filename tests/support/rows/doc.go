// Package rows is the worker table in memory. What acquire.sql, renew.sql, release.sql, reseed.sql and retire.sql
// of package lease decide is written down here once more in Go. So thousands of histories a second can be led
// over it (tests/simulation).
//
// Its test loads any state into PostgreSQL, runs the statement there and here, and compares answer and state. And it
// changes the statements, one guard at a time, to see that the comparison notices.
package rows
