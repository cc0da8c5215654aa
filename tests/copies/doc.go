// Package copies does to real servers what README's table "After a restore, a copy or a failover" lists: each row is a
// test that brings it about, shows that nobody draws before somebody has said what the database is, runs the commands
// as they stand in the table, draws on both sides, and compares every ID.
package copies
