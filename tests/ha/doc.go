// Package ha runs the files of deploy/ha on machines that lose their network, their power, their disk and their clock.
//
// Three servers of PostgreSQL under Patroni, three of etcd, HAProxy and three proxies, each on a machine of its own:
// package machines. Clients of package load draw and write while faults happen.
//
//	PGFLURRY_TEST_HA=2m go test ./tests/ha       a few failovers of each mode; this is what CI runs
//	make ha HA=1h                                the long one
//	make ha HA=3h HA_FLAGS="-ha.failovers 200 -ha.ids 100000000 -ha.reports /tmp"
//
// In the last a storm also ends when there is enough, and the reports are kept. -ha.seed repeats an order of faults,
// and -ha.faults chooses some of them.
//
// Without the variable the tests skip. What the tests change of the files they change by Patroni's REST API, or by
// the environment: the folders, and shorter times, so that a failover takes seconds (quick, in cluster_test.go).
package ha
