// Package client gives a Go program IDs before it inserts the rows that use them.
//
//	callers                    Pool                                 a connection of yours
//	Next ────▶  ┌──────────────────────────────────┐
//	Next ────▶  │ ids ▒▒▒▒▒▒▒░░░  began 40 ms ago  │   draw   ┌──────────────────────────────────┐
//	NextN ───▶  │ waiting: Next, NextN(300), Next  │ ───────▶ │ SELECT * FROM next_snowflakes(n) │ ──▶ proxy
//	            └──────────────────────────────────┘          └──────────────────────────────────┘
//
// The proxy answers that statement from memory, so a draw costs a round trip and no work of PostgreSQL. Without a proxy
// the function in the database answers it. Pgx takes a connection or pool of pgx, SQL a *sql.DB, and a Source of your
// own anything else.
//
// # A draw
//
// A call that finds too few IDs waits, and a draw begins unless one is under way. One draw serves all who wait, in the
// order in which they came, and its rest stays in the pool. Its size is what they want together, or the batch if that
// is more, and at most 10,000, which is what one answer may hold. It is a power of two unless a bound cuts it: the
// number is part of the statement's text, and some drivers prepare and keep each text.
//
// A draw runs in a goroutine of its own, which ends when nobody waits. It has a context of its own, too. The caller
// who began it may leave, and those who came later still get their IDs. A draw that fails is tried once more at once,
// because a proxy that has restarted leaves a dead connection behind. Drawing again is always safe: an ID that was lost
// on the way is a gap.
//
// # The batch
//
// The batch is 1 at first. It doubles when a draw is used up within a quarter of MaxAge, up to MaxBatch. It shrinks to
// about what was used when IDs had to be thrown away. So a busy program draws about four times per MaxAge, or MaxBatch
// at a time. A program that inserts now and then draws one ID at a time, and holds none.
//
// # Age and order
//
// MaxAge bounds how far the time in an ID lies before the insert. IDs of a draw that began longer ago are thrown away.
// A draw's age runs from the moment before it was sent, by the monotonic and by the wall clock, whichever says more. So
// the age counts the hours in which a machine slept. It also protects uniqueness where a machine is copied with its
// memory. Copies that run on within MaxAge of the last draw would give the same IDs.
//
// IDs leave the pool in the order in which they were drawn. Over one proxy they rise from call to call. Draws that
// reach several proxies, or now a proxy and now the function, order by time only within the clock error of those. And
// other sessions draw meanwhile: a row that is inserted later may have an ID that is smaller, by up to MaxAge.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. An ID that the source gave once is given at most once, whatever callers, contexts and draws do.
//  2. A call is given no ID of a draw that had begun more than MaxAge before it, unless that draw was still under way.
//  3. At most one draw is under way, and it asks for 1 to 10,000 IDs.
//  4. A caller waits no longer than its context, holds no lock meanwhile, and takes nothing from those who still wait.
//  5. A failed draw fails everybody who waits for it. The next call begins a new one.
//  6. IDs are given in the order in which they were drawn, to callers in the order in which they came. Those of one
//     NextN rise.
//  7. The batch follows the demand, and never exceeds MaxBatch.
//  8. There is no goroutine while no draw is under way.
//  9. A draw ends within Timeout if its source obeys its context, though every caller may have left.
package client
