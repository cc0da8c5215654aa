// Package driver puts load on servers. A driver is a set of clients that repeat one thing during a trial's turn.
//
//	Pgbench    pgbench, for all that speaks PostgreSQL's protocol: anyone can check with a tool that is not ours
//	Copy       psql, a million rows out or in: pgbench has no COPY
//	Calls      Go functions: go-redis, and the generator within this process
//
// A closed loop asks again when its answer has come. An open loop (Pace) asks at times of its own (a Poisson process).
// Its latency begins at the intended start, whether or not a client was free then. So a stall is in the latency of all
// that it kept waiting.
//
// Percentiles come from open loops only. Of a closed loop there is the mean, because pgbench reads its clock once for
// all that it does without a wait. An answer that is there at once has 0 µs in its log.
//
// Pgbench connects within its run and does not report when. So the same clients run once each right before: that is the
// count's Opening. A figure of processor time is the difference of the two runs, and results.json has both.
package driver
