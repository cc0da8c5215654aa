// Package ha runs the files of deploy/ha on machines that lose their network, power, disk and clock.
//
// It has three servers of PostgreSQL under Patroni, three of etcd, HAProxy and three proxies. Each runs on a machine of
// its own (package machines). Clients of package load draw and write while faults happen.
//
//	PGFLURRY_TEST_HA=2m go test -tags full ./tests/ha     a few failovers of each mode; this is what CI runs
//	make ha HA=1h                                the long one
//	make ha HA=3h HA_FLAGS="-ha.failovers 200 -ha.ids 100000000 -ha.reports /tmp"
//
// The last command ends a storm as soon as both goals are reached, and keeps the reports. -ha.seed repeats an order of
// faults, and -ha.faults chooses some of them.
//
// tests/ha/with-patroni-4 runs each of them with Patroni 4 in the place of the machine's.
//
// Without the variable the tests skip. They change the shipped settings over Patroni's REST API or by the environment.
// They change the folders, and the times: with the quick ones of cluster_test.go a failover takes seconds.
package ha
