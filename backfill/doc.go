// Package backfill gives rows that a table has already IDs of the time at which each was made.
//
//	  pgflurry.worker, in the home              the table, in any database of the namespace
//	┌──────────────────────────────────┐        ┌────────────────────────────────┐
//	│ worker 613 · never used          │        │ created_at      id     new_id  │
//	│                                  │        │ 2019-03-01 …    1      NULL    │── 1 number ──▶ a temporary table
//	│   0 ═════ its past ═════▶ now    │◀─ 2 ───│ 2019-03-01 …    2      NULL    │
//	│   lease.AcquirePast              │  take  │ …                              │◀── 3 fill
//	└──────────────────────────────────┘        └────────────────────────────────┘
//
// An ID is unique because no tick of a worker lies in two grants (package lease). A past is a grant, too: the ticks of
// a free worker from its mark until now. Each run takes one, in a transaction of its own that is acknowledged before
// the first ID is written. Nobody can name a worker, so no second run has the same ticks, whatever became of the first.
//
// # Which ID a row gets
//
// Rows are in the order of their times, and of one more column where two have one time. A slot is a tick and a sequence
// number: tick * width + sequence. The width is how many IDs a worker has in a tick.
//
//	slot(n) = max(slot(n - 1) + 1, first(tick of row n))   =   n + max over m <= n of (first(tick of row m) - m)
//
// The right side is one window function. first(tick) is in the lower quarter of the tick, at a place that the tick
// determines. Otherwise nearly all IDs of a sparse table would have one remainder modulo 2, 4, 8 and so on.
//
// A row is in its own tick while the tick has room. Beyond that, rows move to later ticks, as cars in a queue do. So a
// million rows of one instant reach over 245 ms in the default layout. The result says how late the latest ID is.
//
// # Invariants
//
//  1. No ID comes twice: each run has ticks of its own, and the slots of a run rise strictly.
//  2. The IDs are in the order of the rows.
//  3. An ID is in the tick of its row, or in a later one if the ticks from there on are full.
//  4. No ID is of a tick that has not begun, or of one in which no ID of the layout can be.
//  5. A run fills all rows that it found without an ID, or none.
package backfill
