// Package simulation leads several proxies' cores through faults,
// and asks after every step whether an ID could come twice.
//
//	             real code                                 in memory
//	┌──────────────────────────────────────┐        ┌───────────────────────┐
//	│ generator.Generator   lease.Clock    │        │ wire: one conversation │      ┌─────────────────────┐
//	│ lease.Keeper   lease.Postgres        │◀──────▶│ a connection, with any │◀────▶│ table: the worker    │
//	│ acknowledge.Writer    pgconn         │        │ fate of each write     │      │ rows, every commit   │
//	└──────────────────────────────────────┘        └───────────────────────┘      └─────────────────────┘
//	   one process (node), its monotonic clock                                        one database, its clock
//
// A history is a sequence of steps, each chosen by rapid or by a seed. A process goes on, draws, stops, is killed or
// ended and replaced. Time passes. A write is lost, refused, applied and not acknowledged, acknowledged with a notice,
// or arrives late. The database's clock is set. The server restarts, or fails over and loses its last commits. A worker
// is retired, a backup restored. Only one goroutine runs at a time, so a seed gives the same history again. Where gate
// and quarantine are only just long enough chance hardly ever leads: edge_test.go goes there by hand.
//
// That the table in memory decides as the statements of package lease do is shown by comparing it with PostgreSQL, from
// any state (tests/support/rows). That a history would notice a guard that was left out is shown by taking each away:
// tests/mutants in the Go code, tests/support/rows in the SQL.
//
// A fleet (fleet_test.go) is the same with thousands of processes, in faked time and without faults of single writes:
// how they ask the database when much happens to all of them at once. docs/scale.md has what came of it.
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
//
// 1 and 3 rest on A1, no acknowledged commit is lost, and A2, one table. Where a history breaks A1 by failing over to
// an asynchronous standby they hold still, thanks to quarantine and gate. For that the servers must tell their
// timelines, and their clocks differ by no more than the skew. Where those fail too, or A2 does, duplicates are
// possible. broken_test.go asserts that they are found. Each of them goes back to an acknowledged commit that was lost,
// or to the fork.
package simulation
