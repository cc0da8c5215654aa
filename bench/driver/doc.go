// Package driver puts load on servers. A driver is a set of clients that repeat one thing during a trial's turn.
//
//	Draw          pgx's connection, for the times of round trips, with the number of rows checked
//	RedisDraw     go-redis
//	MariaDBDraw   go-sql-driver
//	FixedBytes    fixed bytes on a plain socket, so that no driver influences what servers spend
//	Connect       any of these that connect and leave, or (Stay) connect and stay, or (Beside) draw one by one beside
//	              others that draw many
//	Pgbench       pgbench, so that anyone can check with a tool that is not ours
//	Rows          a million rows out and in; pgbench keeps whole results in memory, and has no COPY FROM
//
// The first four differ only in the round trip itself (drawFrom). Pgbench connects within its run and does not report
// when. So the same clients run once each right before: that is the count's Opening. A figure is the difference of the
// two runs, and results.json has both.
package driver
