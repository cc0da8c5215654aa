// Package lease gives one process the right to use one worker of a namespace, and keeps it.
//
//	  pgflurry.worker, one row per worker              this process
//	┌───────────────────────────────────┐
//	│ worker 7 · owner 5f0c… · term 12  │  acquire   ┌──────────────────┐  Grant(7, from, until)
//	│ reserved_until = 91_400_060_000 ──┼──renew────▶│ Keeper           ├───────────▶ generator
//	│ released_at, retired_at           │◀─release───│ one goroutine    │  Seal()
//	└───────────────────────────────────┘            │ one connection   ├───────────▶ Clock.Observe
//	         │ clock_timestamp()                     └──────────────────┘
//	         └────────────── every acknowledged write tells the time ─────────▲
//
// All times are ticks: whole units since the epoch of the namespace, as they stand in an ID.
//
// # What the row decides, and what local time decides
//
// The row decides everything that uniqueness rests on: who may use a worker (owner, term) and up to which tick
// (reserved_until, the mark). The right does not end at a moment but at a tick: the generator compares the mark with
// the very tick it is about to put in an ID. So a process that was paused, replaced or cut off does no harm however
// late it learns of it. It may finish its grant, because whoever took the worker over starts at or after the mark.
//
// Local time decides only when to try again: when to renew, how long to wait for an answer, when to give up. The
// monotonic clock of the process measures these; no wall clock of any node is read. The time inside IDs is the
// database's (Clock).
//
// # The bound
//
//	bound = reserved_until as returned by the last cleanly acknowledged write of this owner and term
//	      = 0 before the first one
//
// A mark that was read counts for nothing, nor does one that was written without a clean acknowledgement. An answer
// with a notice in it may be a commit that no standby has (package acknowledge). What the row holds beyond the bound
// is only a gap.
//
// How far a renewal may raise the mark is decided in SQL, by the database's clock (renew.sql):
//
//	mark' = max(mark, min(wanted, limit))
//	limit = max(now + window + skew, mark + time since the last renewal)
//
// The second term lets a holder go on after the database's clock was set back: its mark is then far ahead of now, and
// must go on moving. Yet mark - now never grows beyond what it was. So no node's clock can push a mark away, not even
// by renewing again and again.
//
// # States
//
//		             acquired                     renewed (bound rises, window doubles up to the configured one)
//		 ┌──────┐ ──────────────▶ ┌──────┐ ◀──┐   unknown (bound stays, next attempt on a new connection)
//		 │ none │                 │ held │ ───┘
//		 └──────┘ ◀────────────── └──────┘
//		  │  ▲  │  lost              │ shutdown: seal the generator first, then release
//		  └──┘  └──────────┐         ▼
//		  refused, unknown └────▶ ┌────────┐
//		                 shutdown │ sealed │  no ID, ever
//		                          └────────┘
//
//	  - none → held: one conditional write took a row that nobody holds, with a new random owner and term + 1.
//	  - none → none, refused: a clean answer without a row: the gate is closed, or no worker is free; the answer says
//	    until when.
//	  - none → none, unknown: the row may have been taken, but nothing will ever be issued from it. It is free again
//	    after its first window and the quarantine.
//	  - held → held, unknown: the write may or may not have happened, or may still happen. The bound stays. If nothing
//	    is heard until the clock has reached the bound, the generator stops by itself. Renewal goes on, since the
//	    worker is still ours if nobody took it. Only if the database answers that the row is locked by somebody else,
//	    another worker is tried.
//	  - held → none, lost: a clean answer without a row: another owner or term, retired, a mark below the bound (an
//	    acknowledged commit is gone), left until others might have had it, or the database is a copy. The generator
//	    may finish its grant; the keeper acquires at once.
//	  - any → sealed: Run ends. The generator is sealed before the row is released, so a released row has no live
//	    issuer. An acquisition under way is awaited for two seconds. Its worker is released, and nothing is issued.
//	  - Run ends with an error only where no later attempt could be right: the database has another namespace
//	    (ErrNamespaceMismatch) or its worker rows elsewhere (ErrElsewhere), or the issuer does not take the grant.
//
// # When a worker is free
//
// Never used: at once. Released: when now has reached its mark. Held and not released: when now has reached mark +
// quarantine; the holder may be alive, and a failover may have lost some of its renewals. Retired: never. After a
// change of the WAL timeline (a failover, a physical restore) no worker of any class is free for the length of the
// quarantine: the gate. Where the server does not tell its timeline there is no gate; the keeper says so in its log. A
// copy of a database (a clone, one made from a template) and one restored from a dump, even in place, grant and renew
// nothing until they were told what they shall be.
//
// A process that asks with a window above max_window knows more than the row: it began when max_window was at least
// that. The row has forgotten a raise, or max_window was lowered since. Such a process adds what the quarantine lacks,
// at the gate and to each rest.
//
// # How often
//
// A renewal comes when a third of what is reserved has passed, but 20 s after the one before at the latest. So nearly
// all of a long window is left at any moment, a failure shows within 20 s, and the clock hears the database's so often.
//
// # Invariants
//
//  1. The bound is the acknowledged mark: the issuer's until is never beyond it, whatever was read or written without
//     acknowledgement.
//  2. Anything but one row, the right tags, no notice, no error and ReadyForQuery I is unknown: the bound stays and the
//     connection is closed.
//  3. Marks never fall.
//  4. No tick of a worker lies in the grants of two acquisitions.
//  5. No node's clock can poison a mark: after a renewal mark - now is at most window + skew, or what it was after the
//     last renewal or would be without this one.
//  6. While the gate is closed nothing is granted.
//  7. The clock never steps back, lags the database by at most a round trip, and reads no wall clock.
//  8. The generator is sealed before its worker is released, and when Run has returned it is sealed.
//  9. Run is one goroutine; when it has returned no connection and no goroutine is left.
//
// Goroutine: the caller starts Keeper.Run, ends it through its context, and waits for it to return. There is no other.
package lease
