// Package bench measures ways to do the same thing against running servers, and says by how much they differ.
//
//	trials (workload × contender) ──► Run ──► samples ──► Report ──► terminal, results.md, results.json
//
//	round 0   A B C │ A B C │ …   warm-up, thrown away
//	round 1   C A B │ B A C │ …   the contenders of a workload one right after the other, in an order drawn from the seed
//	round 2   …
//
// A shared machine drifts by more than what is to be measured. So contenders are interleaved, and every ratio is one of two
// samples of the same workload and round; medians and quartiles are taken over the rounds. Rounds are the outermost loop, so
// that a run that is interrupted has all workloads, with fewer rounds.
//
// Rules, each with a test of its name:
//
//  1. Contenders of a workload take turns, in every round, in an order that the seed decides.
//  2. The warm-up is in no figure.
//  3. A ratio is the median of the ratios round by round, never the ratio of two medians.
//  4. An interrupted run gives what is finished, and the report says how much that is.
//  5. What was not measured is said to be so: it is never a zero and never left out.
//  6. A trial that fails has no more turns, and the others have theirs.
//  7. Connecting and leaving are in no figure of processor time.
//  8. IDs that the proxy forwarded for are an error and no figure.
//
// Processor time of a server is that of its process and all below it, in user and system mode, divided by the operations (cpu.go). It
// is taken when the clients of a turn have connected and drawn once each, which fills the caches of their backends, and again before
// they leave; then the turn waits until their backends are gone, so that no contender pays for the one before it. pgbench connects within
// its run and does not tell when it has. There the same clients run once each right before (Opening), and a figure is the
// difference of the two: processor time over operations; results.json has both.
//
// What the targets ask (targets.go) is measured with pgbench wherever it can, so that anyone can check with a tool that is not ours; the
// processor time of one ID by a client that sends fixed bytes (fixedbytes.go), so that no driver has a part in it.
//
// Statements that are passed on are sent by pgbench, which comes with PostgreSQL; but rows by pgx (rows.go), because pgbench would keep
// a million of them, and cannot copy in. IDs are drawn by pgx (draw.go), for the times of round trips, with the number of rows checked; from Redis and MariaDB by the drivers that Go
// programs use for them (draw_redis.go, draw_mariadb.go). All draw the same way but for the round trip itself.
package bench
