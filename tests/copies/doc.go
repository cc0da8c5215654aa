// Package copies does to real servers what the table "After a restore, a copy or a failover" of docs/operations.md
// lists. Each row is a test. The test brings the row about, and shows that nobody draws before somebody has said what
// the database is. It then runs the commands as they stand in the table, draws on both sides, and compares every ID.
package copies
