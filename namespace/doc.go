// Package namespace reads the one row that says which ID space a database belongs to. It judges what may be done with
// that database: whether the row was written for it, and whether a proxy may answer in it.
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
// A copy of a database that draws on gives the IDs of its original. So the question "is this the database that the
// row was written for?" has one answer, in SQL (sqlfuncs/identity.sql), and everything that grants, draws or
// migrates asks it.
//
// # What it compares
//
//   - The system identifier: made by initdb. A dump restored on another server, or pg_upgrade, changes it. Servers that
//     do not tell it are not compared by it.
//   - The oid of the database: a template copy has another. Renaming keeps it, so a swap of names changes nothing.
//   - The oids of the tables pgflurry.namespace and pgflurry.worker: a dump restored in place has made another table.
//
// # What the answers mean
//
//   - The original: everything works.
//   - A copy: nothing is granted, renewed or drawn until somebody says what it shall be. "pgflurry migrate up" takes
//     the word: --join (another database of the same space), --new-namespace, or --moved (the original is gone).
//   - A disposable namespace, for tests: its copies count as originals. That is chosen when it is made, and cannot be
//     changed.
//
// # When it is asked
//
// Lease statements ask at each acquisition and renewal, the program at each command, serve at each look at a database.
// The function asks once in a session, before its first ID: a session cannot move to another database. Its own text
// names the ID space and the worker that it was written for, and the row must say the same.
//
// # What stays invisible
//
// A copy of a server's files (base backup, snapshot, clone of a machine) shares all three values with its original.
// Nobody can notice it until it speaks to the home of its namespace. There each database's claim stands with the
// address it was made from. A claim from another address is refused until somebody says --moved (the original is gone)
// or --copy (it lives on). A claim that moves is used up: the home writes a new one, so a second copy cannot follow.
// Two machines that reach their servers by the same name and port, and a clone that never asks, stay unnoticed.
//
// # Regions
//
// An ID space may have regions: databases that never talk, each a home of its own with the workers of one datacenter
// number. The row says which (region.go). They agree by a text that people carry (fingerprint.go). That no two have one
// number is the operator's to see to; compare.go is what helps him.
//
// # Invariants
//
//  1. One judgement: what the lease, the function and the program say of a database is the same.
//  2. A copy gives no ID, not even the rest of a tick that it was copied with.
//  3. The original is never taken for a copy: not after a rename, a swap of names, a restart, a crash, a failover.
//  4. A function text that came from another database draws nothing.
//  5. A claim is used from one address: from another one it is refused until it is said whether the original lives.
package namespace
