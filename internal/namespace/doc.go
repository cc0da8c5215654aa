// Package namespace reads the one row that says which ID space a database belongs to. It judges two things: whether the
// row was written for this database, and whether a proxy may answer in it.
//
//	pgflurry.namespace, one row                    this database
//	┌──────────────────────────────┐
//	│ id, layout, function_worker  │
//	│ system_identifier ───────────┼── compared ── pg_control_system()
//	│ database_oid ────────────────┼── compared ── pg_database.oid
//	│ namespace_oid, worker_oid ───┼── compared ── the oids of the two tables
//	└──────────────────────────────┘
//	               │
//	     pgflurry.why_copied() ─ is_original() ─┬─ acquire.sql, renew.sql     no lease
//	                                            ├─ may_draw() in the function SNF03
//	                                            └─ migrate, serve, workers    a refusal that says what to run
//
// If a copy of a database goes on drawing, it gives the IDs of its original. So everything that grants, draws or
// migrates first asks: was the row written for this database? The answer is computed in one place, in SQL
// (sqlfuncs/identity.sql).
//
// Package migrations writes the row. Package node reads it for each database that the proxy serves, and the commands
// read it before they change anything.
//
// # What it compares
//
//   - The system identifier, which initdb makes. A dump restored on another server has another one; so has a cluster
//     after pg_upgrade. If the server does not show it, it is not compared.
//   - The oid of the database. A template copy has another one. Renaming keeps it, so a swap of names changes nothing.
//   - The oids of the tables pgflurry.namespace and pgflurry.worker. A dump restored in place makes new tables.
//
// # What the answers mean
//
//   - The original: everything works.
//   - A copy: nothing is granted, renewed or drawn until the operator says what it shall be. "pgflurry namespace"
//     takes the decision: join (another database of the same space), separate (a space of its own), or move (the
//     original is gone).
//   - A disposable namespace, for tests: its copies count as originals. That is chosen when it is made, and cannot be
//     changed.
//
// # Which database answers at an address
//
// An address may lead elsewhere later: a balancer, a name or a pooler has switched, or the server has gone back in
// time. Place names the database that a connection has at its end. It consists of the system identifier, the oids of
// the database and of the table, the namespace, and the generation of the row. An operator's decision raises the
// generation: move, separate, reseed, close. A restore in place changes nothing else for sure. Places
// are only compared with others of the same address. A standby makes no statement.
//
// # Closed databases
//
// "pgflurry namespace close" ends all draws for good (sqlfuncs/closing.sql), as the first step of a move. Then the
// other database may take the place of this one. A closed database draws again only when it takes its own place, by a
// move.
//
// # When it is asked
//
// The lease's statements ask at each acquisition and renewal, each command when it starts, and a proxy each time it
// looks at a database. The function asks once in a session, before its first ID, because a session cannot move to
// another database. The text of the function names the ID space and the worker that it was written for. The row must
// name the same.
//
// # What stays invisible
//
// A copy of a server's files (base backup, snapshot, clone of a machine) shares all three values with its original.
// Only its address shows the difference. Two rows remember addresses:
//
//   - The home records each database's claim with the address from which it was made. It refuses a claim from another
//     address until the operator runs move (the original is gone) or says --copy (it lives on). When a claim moves, the
//     home writes a new one, so a second copy cannot use the old one.
//   - Each database's own row remembers its server (sqlfuncs/new_server.sql): its start, what it tells of itself, and
//     by which addresses it was reached. Read compares that. A server is new if it was started since, is reached at
//     another address, and is not the known machine, port and directory. By default that is a warning, because a
//     failover can look the same. If the row says refuse, the database counts as a copy.
//
// Each look that recognises the server lets the row remember it as it is now (Noted). That happens after a start and
// for an address that is new, so looks write next to nothing. The hosts of one connection string are one cluster: if
// one is known, all are. The function does not know its address. If the row says refuse, it waits after each start
// until somebody has recognised the server.
//
// A copy stays unnoticed if it reaches its server by the same name and port as the original.
//
// # Regions
//
// An ID space may have regions: databases that never talk to each other. Each is a home with the workers of one
// datacenter number, which its row records (region.go). Operators carry a text from one region to the next, so that all
// have the same layout (fingerprint.go). The operator must give each region its own number; compare.go helps to check.
//
// # Invariants
//
//  1. One judgement: what the lease, the function and the program say of a database is the same.
//  2. A copy gives no ID, not even the rest of a tick that it was copied with.
//  3. The original is never taken for a copy: not after a rename, a swap of names, a restart, a crash, a failover.
//  4. A function text that came from another database draws nothing.
//  5. A claim is used from one address. From another address it is refused until the operator says whether the original
//     lives.
package namespace
