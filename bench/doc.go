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
//
// Processor time of a server is what /proc tells of its process and all below it, in user and system mode, over a trial and
// divided by its operations. It includes the trial's connecting and closing.
//
// What the targets ask (targets.go) is measured with pgbench wherever it can, so that anyone can check with a tool that is not ours; the
// processor time of one ID by a client that sends fixed bytes (fixedbytes.go), so that no driver has a part in it.
//
// Statements that are passed on are sent by pgbench, which comes with PostgreSQL; but rows by pgx (rows.go), because pgbench would keep
// a million of them, and cannot copy in. IDs are drawn by pgx (draw.go), for percentiles and checked results; from Redis and MariaDB by the drivers that Go
// programs use for them (draw_redis.go, draw_mariadb.go). All draw the same way but for the round trip itself.
package bench
