// Package inprocess gives a Go program IDs of its own worker, without a hop. It leases the worker from the same table
// as a proxy, and its IDs are of the same ID space.
//
//	your program                                                   lease database
//	┌─────────────────────────────────────────────────────┐
//	│ Next ──────▶ ┌───────────┐                          │       ┌──────────────────┐
//	│ TryNext ───▶ │ generator │ ◀── grants ── keeper ────┼─────▶ │ pgflurry.worker  │
//	│ AppendN ───▶ └───────────┘         one goroutine,   │       │ one row a worker │
//	│   waits ◀──── news of a grant      one connection   │       └──────────────────┘
//	└─────────────────────────────────────────────────────┘
//
// A draw costs a few hundred nanoseconds and no I/O. One Generator serves a whole process: each takes a worker.
//
// It is for processes that live for minutes or longer. A worker rests after each use, so many short processes use up
// all of them (docs/in-your-program.md has the sums). Such programs draw from the ID database of a proxy (package
// client).
//
// # While there is no grant
//
// There is none before the first grant, after a long pause of the process, and while the database is away for longer
// than the window. Then Next and AppendN wait until their context ends. They wait for the event, and ask nobody.
// TryNext never waits. If no wait helps, all fail at once. The reasons are:
//
//   - Close was called
//   - the timestamps of the layout have ended
//   - all workers are retired
//   - the database is a copy, or of another namespace
//
// # Copies of a process's memory
//
// A snapshot that runs on more than once (a cloned machine, CRaC, SnapStart) has the grant in its memory. Each copy
// gives the same IDs up to the mark. Call Suspend before the snapshot, and Resume in each copy. Suspend gives the
// worker back. Without the two, nothing here can notice the copy in time.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. If Open or Resume fails, no connection, no goroutine and no lease is left.
//  2. Next and AppendN wait for a grant until their context ends, and fail at once if no wait helps.
//  3. The generator is sealed before its worker is released. After Suspend or Close has returned nil there is no ID of
//     the former grant.
//  4. After Close has returned nil there is no goroutine and no connection.
//  5. Generators of one process share nothing.
//
// All methods are safe for concurrent use. Open and Resume start one goroutine, the keeper's. Suspend and Close end it.
package inprocess
