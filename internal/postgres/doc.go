// Package postgres finds a PostgreSQL on this machine and runs a private cluster with it: for demo and tests.
//
//	Locate ──► Binaries (the --bin folder; PATH; the packagers' folders)  ──► Start ──► Cluster ──► Stop
//	      └──► Docker   (an image, when no binaries are here)             ──┘
//
//	DATA            the data folder, mode 0700, owned by the server's user; the Unix socket is in it
//	DATA.log        the server's log
//	DATA.lock       held (flock) by the process that runs the cluster
//	DATA.new        the folder while initdb runs, renamed to DATA when it is whole
//
// Invariants, each with a test of its name:
//
//  1. Root never runs the server. For root, it runs as the owner of the data folder, else as user postgres, else as
//     nobody. If that user cannot enter a folder on the way, Start fails with an error that names the folder.
//  2. Ctrl-C in the terminal does not reach the server, which has a process group of its own. Stop ends it, after
//     everything that still needs it.
//  3. The server ends with its starter, even after SIGKILL (Linux: parent death signal).
//  4. Start and Stop never stop a server that Start did not start. If one runs on the data folder, Start fails.
//  5. A data folder is whole or absent: after an interrupted initdb, a later run finds nothing that looks like a
//     cluster.
//  6. Stop leaves nothing but DATA, DATA.log and DATA.lock.
//
// A container keeps 2, 4 and 6. After a SIGKILL of its starter it goes on, and the next run says how to remove it.
//
// Goroutines: Start starts one for each Cluster. It waits for the server's end and ends with it, and Stop waits for the
// goroutine. For binaries it also holds the thread that is the server's parent.
package postgres
