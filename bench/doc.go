// Package bench is the front page of the benchmarks: a module of its own that measures sources of IDs and servers
// beside one another, and says by how much they differ. Its code is in the packages below.
//
//	cmd/pgflurry-bench ──► console ──► charts ──► report ──► statistics
//	        │                                      ▲  │
//	        ▼                                      │  ▼
//	suites, suites/inprocess ──────────────────────┘ trial
//	        │                                         ▲
//	        └──► servers ──► driver ──────────────────┘
//
//	statistics         what a set of figures looks like: median, quartiles, mean
//	trial              contenders take turns at workloads, and each turn gives a sample
//	report             samples become figures and verdicts, tables and files; two runs are compared
//	driver             clients that load a server: pgbench, pgx, go-redis, go-sql-driver, fixed bytes
//	servers            PostgreSQL, what stands in front of it, Redis and MariaDB: started, or known by their URLs
//	suites             what the commands run, insert, proxy, connections and targets measure
//	suites/inprocess   what the command inprocess measures: the generator beside other libraries, without a server
//	charts             a report drawn, and the folder of results
//	console            a plan that runs before somebody's eyes
//	tests              pgflurry-bench as a user runs it, on real servers
//
// Rules, each with a test of its name in the package that keeps it:
//
//  1. Contenders of a workload take turns, in every round, in an order that the seed decides.
//  2. The warm-up is in no figure.
//  3. A ratio is the median of the ratios round by round, never the ratio of two medians.
//  4. An interrupted run gives what is finished, and the report says how much that is.
//  5. What was not measured is said to be so: it is never a zero and never left out.
//  6. A trial that fails has no more turns, and the others have theirs.
//  7. Connecting and leaving are in no figure of processor time.
//  8. IDs that the proxy forwarded for are an error and no figure.
//  9. A figure of one round has no quartiles, in no table, chart or file.
package bench
