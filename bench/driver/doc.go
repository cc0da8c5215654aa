// Package driver loads servers: each driver is clients that do one thing again and again, as a trial's turn.
//
//	Draw          pgx's connection, for the times of round trips, with the number of rows checked
//	RedisDraw     go-redis
//	MariaDBDraw   go-sql-driver
//	FixedBytes    fixed bytes on a plain socket, so that no driver has a part in what servers spend
//	Connect       any of these that connect and leave, or (Stay) connect and stay, or (Beside) draw one by one beside
//	              others that draw many
//	Pgbench       pgbench, so that anyone can check with a tool that is not ours
//	Rows          a million rows out and in, which pgbench would keep, and cannot copy in
//
// The first four draw the same way but for the round trip itself (drawFrom). Pgbench connects within its run and does
// not say when it has. So the same clients run once each right before, which is the count's Opening, and a figure is
// the difference of the two. results.json has both.
package driver
