// Package copies does to real servers what README's table "After a restore, a copy or a failover" lists. Each row is a
// test that brings it about, and shows that nobody draws before somebody has said what the database is. It then runs
// the commands as they stand in the table, draws on both sides, and compares every ID.
package copies
