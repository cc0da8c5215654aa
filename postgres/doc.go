// Package postgres finds a PostgreSQL on this machine and runs a private cluster with it: for demo and tests.
//
//	Locate ──► Binaries (the --bin folder; PATH; the packagers' folders)  ──► Start ──► Cluster ──► Stop
//	      └──► Docker   (an image, when no binaries are here)             ──┘
//
//	DATA            the data folder, mode 0700, owned by the server's user; also holds the Unix socket
//	DATA.log        what the server said
//	DATA.lock       held (flock) by the process that runs the cluster
//	DATA.new        initdb's half-made folder, renamed to DATA when whole
//
// Invariants, each with a test of its name:
//
//  1. Root never runs the server. As root it runs as the owner of the data folder, else as user postgres, else nobody;
//     folders which that user cannot pass through are refused with a sentence that names the folder.
//  2. Ctrl-C in the terminal does not reach the server (own process group): it ends when Stop says so, after everything
//     that still needs it.
//  3. The server ends with its starter, even one killed with SIGKILL (Linux: parent death signal).
//  4. Nothing is stopped that Start did not start: a server already on the data folder is an error.
//  5. A data folder is whole or absent: an initdb that was interrupted leaves nothing that a later run takes for a
//     cluster.
//  6. Stop leaves nothing but DATA, DATA.log and DATA.lock.
//
// Of these a container keeps 4 and 6, and 2 by its nature. After a SIGKILL of its starter it goes on, and the next run
// says how to remove it.
//
// Goroutines: one per Cluster, started by Start; it waits for the server's end and ends with it, and Stop waits for
// that. For binaries it also holds the thread that is the server's parent.
package postgres
