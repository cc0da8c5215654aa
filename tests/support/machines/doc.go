// Package machines gives a test several machines on this one. The test may cut their network.
//
//	func TestMain(m *testing.M) { machines.Main(m) }
//
//	func TestSomething(t *testing.T) {
//		w := machines.New(t, "db1", "db2", "proxy1")
//		db1 := w.Machine("db1")
//		etcd := db1.Start(t, machines.Command{Name: "etcd", As: "postgres", Dir: db1.Disk()})
//		w.Cut("db1", "db2")
//
// Main runs the test binary again inside a private world:
//
//	this machine ─ go test ─ test binary          waits, and passes signals on
//	                              │
//	the world        PID 1: the test binary again, which reaps
//	                              │
//	                 the tests (10.93.0.254, named client) ── switch ──┬── db1    10.93.0.1
//	                                                                   ├── db2    10.93.0.2
//	                                                                   └── proxy1 10.93.0.3
//
// The world has its own processes, mounts, network, shared memory and semaphores. It also has its own /run, /dev/shm
// and folder of temporary files. Each machine in it has the same for itself again, with a host name and an /etc/hosts
// that names all machines. All other folders are those of this machine.
//
//  1. Whatever ends the test binary, nothing of the world is left: no process, mount, interface, rule or file.
//  2. A cut is silent and has one direction. No sender sees an error, and open connections hang.
//  3. A crash is a loss of power. Everything that runs there ends at once, and the network sees no farewell.
//     The disk stays as it was.
//  4. A paused machine sends and answers nothing, and goes on afterwards as if no time had passed for its programs.
//  5. A full disk takes nothing more until it is free again.
//  6. A clock that is set is set on that machine alone, for all its programs at once.
//
// It needs Linux, root, iproute2, nftables and a C compiler. Without them tests skip, or fail if PGFLURRY_TEST_HA is
// set.
package machines
