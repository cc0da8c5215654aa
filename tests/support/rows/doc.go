// Package rows is the worker table in memory. It repeats in Go the decisions of acquire.sql, renew.sql, release.sql,
// reseed.sql and retire.sql of package lease. So tests/simulation can run thousands of histories a second over it.
//
// Its test loads any state into PostgreSQL and runs the same statement there and here. Then it compares the answers and
// the new states. It also removes guards of the statements, one at a time, and expects that the comparison notices
// each. It repeats acquire, renew and release as a role that may only keep leases, under the guards.
package rows
