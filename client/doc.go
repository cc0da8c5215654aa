// Package client gives a Go program IDs before it inserts the rows that use them.
//
//	callers                    Pool                                 a connection of yours
//	Next ────▶  ┌──────────────────────────────────┐
//	Next ────▶  │ ids ▒▒▒▒▒▒▒░░░  began 40 ms ago  │   draw   ┌──────────────────────────────────┐
//	NextN ───▶  │ waiting: Next, NextN(300), Next  │ ───────▶ │ SELECT * FROM next_snowflakes(n) │ ──▶ proxy
//	            └──────────────────────────────────┘          └──────────────────────────────────┘
//
// The proxy answers that statement from memory, so a draw costs a round trip and no work of PostgreSQL. Without a proxy
// the function in the database answers it. Your program imports this package; nothing else in this repository uses it.
// Choose a source: Pgx takes a connection or pool of pgx, SQL takes a *sql.DB, and you can write a Source of your own.
//
// # A draw
//
// A call that finds too few IDs waits, and starts a draw unless one is under way. One draw serves all waiting calls, in
// the order in which they came. Its rest stays in the pool.
//
// A draw asks for what the waiting calls want together, or for the batch if that is more, and at most for 10,000 IDs.
// One answer cannot hold more. The number is a power of two unless a limit cuts it. It is part of the statement's text,
// and some drivers prepare and keep each text, so few different numbers are better.
//
// A draw runs in a goroutine of its own, which ends when no call waits. It also has a context of its own. If the caller
// who started it leaves, later callers still get their IDs. If a draw fails, it is tried once more at once, because a
// proxy that has restarted leaves a dead connection behind. Drawing again is always safe: an ID that was lost on the
// way is a gap.
//
// # The batch
//
// The batch is 1 at first. It doubles when a draw is used up within a quarter of MaxAge, up to MaxBatch. It shrinks to
// about what was used when IDs had to be thrown away. So a busy program draws about four times per MaxAge, or MaxBatch
// at a time. A program that inserts now and then draws one ID at a time, and holds none.
//
// # Age and order
//
// MaxAge limits how long before the insert an ID was drawn. The pool throws away the IDs of an older draw. It measures
// the age from the moment before it sent the draw, by the monotonic and by the wall clock, and takes the larger value.
// So the age includes the hours in which a machine slept.
//
// If a machine is copied with its memory, MaxAge alone protects uniqueness. Copies that run on within MaxAge of the
// last draw give the same IDs.
//
// IDs leave the pool in the order in which they were drawn. Over one proxy they rise from call to call. If draws reach
// several proxies, or sometimes the function, their order by time is as exact as the clocks of those agree. Other
// sessions draw meanwhile, too. So a row that is inserted later may have a smaller ID, by up to MaxAge.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. An ID that the source gave once is given at most once, whatever callers, contexts and draws do.
//  2. A call gets no ID of a draw that began more than MaxAge before the call, unless that draw was still under way.
//  3. At most one draw is under way, and it asks for 1 to 10,000 IDs.
//  4. A caller waits no longer than its context, holds no lock meanwhile, and takes nothing from those who still wait.
//  5. A failed draw fails every call that waits for it. The next call begins a new one.
//  6. IDs are given in the order in which they were drawn, to callers in the order in which they came. Those of one
//     NextN rise.
//  7. The batch follows the demand, and never exceeds MaxBatch.
//  8. There is no goroutine while no draw is under way.
//  9. A draw ends within Timeout if its source obeys its context, even if every caller has left.
package client
