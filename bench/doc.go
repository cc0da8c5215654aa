// Package bench is the front page of the benchmarks. They are a module of their own, which measures sources of IDs and
// servers side by side and says by how much they differ. The code is in the packages below.
//
//	cmd/pgflurry-bench ──► suites, suites/inprocess ──► report ──► trial
//	        │                        │                               ▲
//	        └────────────────────────┴──► servers ──► driver ────────┘
//
//	trial              contenders take turns at workloads, and each turn gives a sample
//	report             samples become figures and verdicts; results.json, and tables and charts made from it
//	driver             clients that load a server: pgbench, psql, go-redis
//	servers            PostgreSQL, the servers in front of it, Redis: started here, or given by URLs
//	suites             what the commands run, insert and proxy measure
//	suites/inprocess   what the command inprocess measures: the generator beside other libraries, without a server
//	tests              pgflurry-bench as a user runs it, on real servers
//
// Rules, each with a test of its name in the package that keeps it:
//
//  1. Contenders of a workload take turns in every round. The seed decides their order.
//  2. No figure includes the warm-up.
//  3. A ratio is the median of the ratios round by round, never the ratio of two medians.
//  4. An interrupted run reports what is finished, and how much that is.
//  5. The report names what was not measured. It shows no zero for it, and does not leave it out.
//  6. A trial that fails gets no more turns. The others go on.
//  7. No figure of processor time includes connecting and leaving.
//  8. If the proxy forwards instead of answering, that is an error and no figure.
//  9. A figure of one round has no quartiles in any table.
package bench
