// Package partition keeps the partitions of a table whose key is an ID. It makes those of the coming months, and drops
// those that are older than an operator keeps.
//
//	Look ──▶ Facts ──▶ Plan ──┬─▶ Print   SQL for psql
//	reads    what exists,     └─▶ Run     the same statements, one by one
//	         the clock
//
//	facts.go      what exists, and when units begin
//	look.go       asks the server for it
//	session.go    a session that is alone for its table
//	fits.go       which tables are refused, and why
//	ranges.go     which ranges are missing
//	names.go      what a new partition is called
//	plan.go       Facts and Settings to steps; no I/O
//	steps.go      the statements of a step
//	run.go        runs them
//	queries.sql   all SQL
//
// Numbered invariants:
//
//  1. A plan leaves no ID of the current unit or the units ahead without a partition, whatever partitions exist. A new
//     one begins where the one before it ends.
//  2. A run may end between any two statements. The next run completes what it began.
//  3. What may hold old keys, or begins with MINVALUE, is never dropped. Nothing is dropped without consent.
//  4. The application's statements never wait for the table, not even while a run waits for a lock on it. Foreign keys
//     lock the other table. The default timeout is below deadlock_timeout, so the run is what ends in a deadlock.
//
// A partition is made in one transaction: CREATE TABLE LIKE, then ATTACH PARTITION. ATTACH locks the table as VACUUM
// does (SHARE UPDATE EXCLUSIVE), and CREATE TABLE PARTITION OF would lock out everybody. The new table is empty. So
// ATTACH has nothing to read, and a CHECK constraint would save nothing.
//
// A drop cannot be one transaction, because PostgreSQL refuses DETACH CONCURRENTLY in one. So a comment marks the
// partition first. The next run recognises a marked table that is detached, or that is about to be.
package partition
