// Package simulation leads the cores of several proxies through faults. After every step it asks whether an ID could
// come twice.
//
//	             real code                                 in memory
//	┌──────────────────────────────────────┐        ┌───────────────────────┐
//	│ generator.Generator   lease.Clock    │        │ wire: one conversation │      ┌─────────────────────┐
//	│ lease.Keeper   lease.Postgres        │◀──────▶│ a connection, with any │◀────▶│ table: the worker    │
//	│ acknowledge.Writer    pgconn         │        │ fate of each write     │      │ rows, every commit   │
//	└──────────────────────────────────────┘        └───────────────────────┘      └─────────────────────┘
//	   one process (node), its monotonic clock                                        one database, its clock
//
// A history is a sequence of steps, each chosen by rapid or by a seed. A process goes on, draws, stops, is killed, or
// is ended and replaced. Time passes. A write is lost, refused, applied and not acknowledged, acknowledged with a
// notice, or arrives late. The database's clock is set. The server restarts, or fails over and loses its last commits,
// with a new timeline or without one. A former primary comes back as it was. A worker is retired, a backup restored.
// The database is closed, and opened or moved. Only one goroutine runs at a time, so a seed gives the same history
// again. Chance hardly ever leads to a state in which gate, quarantine and the rest after a start are only just long
// enough. edge_test.go and edge_start_test.go make such states by hand.
//
// Two other suites show that these histories mean something. tests/support/rows compares the table in memory with
// PostgreSQL, from any state: it decides as the statements of package lease do. Mutants show that a history would
// notice a missing guard. tests/mutants has those of the Go code, tests/support/rows those of the SQL.
//
// The model of the lease (package model) must admit each history (replay_test.go), if Spin is installed. Such a history
// has only what the model has, and moments_test.go records it.
//
// A fleet (fleet_test.go) has thousands of processes, in faked time and without faults of single writes. It shows how
// they ask the database when much happens to all of them at once. docs/operations.md has the results.
//
// # What is asserted
//
//  1. No ID comes twice.
//  2. Every ID lies in a grant that was cleanly acknowledged to the process that drew it.
//  3. No tick of a worker lies in the grants of two acquisitions.
//  4. Marks never fall on one timeline.
//  5. A renewal leaves a mark at most window + skew ahead of the database's clock, or no further ahead than it was or
//     would be.
//  6. The clock of a process never steps back.
//  7. After the end of a process, and while its worker is being released, it issues nothing.
//  8. A closed database grants nothing. A process that it has told so issues nothing until the next grant.
//
// Invariants 1 and 3 rest on two assumptions: A1, no acknowledged commit is lost, and A2, there is one table. A history
// breaks A1 when it fails over to an asynchronous standby, or back to a former primary. The invariants still hold then,
// thanks to quarantine, gate and the rest after a start. For that the servers must report their timelines, and their
// clocks may differ by no more than the skew. If that fails too, or A2 does, duplicates are possible. broken_test.go
// asserts that they are found. Behind each duplicate is a lost acknowledged commit, or the fork.
package simulation
