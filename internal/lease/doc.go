// Package lease gives one process the right to use one worker of a namespace, and renews that right.
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
// Package node runs a Keeper for each proxy and hands its grants to the generator. The command "pgflurry workers"
// lists, retires and reseeds the rows (admin.go, history.go).
//
// All times are ticks: whole units since the epoch of the namespace, as they stand in an ID.
//
// # What the row decides, and what local time decides
//
// The row decides everything that uniqueness rests on: who may use a worker (owner, term) and up to which tick
// (reserved_until, the mark). The right ends at a tick, not at a moment: the generator compares the mark with the tick
// that it puts in an ID. A process that was paused, replaced or cut off can learn of it late and does no harm. It may
// finish its grant, because its successor starts at or after the mark.
//
// Local time decides only when to try again: when to renew, how long to wait for an answer, when to give up. The
// process measures these by its monotonic clock and reads no wall clock. The time inside IDs is the database's (Clock).
//
// # The bound
//
//	bound = reserved_until as returned by the last cleanly acknowledged write of this owner and term
//	      = 0 before the first one
//
// A mark that was only read does not count. Neither does a mark that was written without a clean acknowledgement. An
// answer with a notice may be a commit that no standby has (package acknowledge). If the row holds more than the bound,
// the difference is a gap.
//
// SQL decides how far a renewal may raise the mark, by the database's clock (renew.sql):
//
//	mark' = max(mark, min(wanted, limit))
//	limit = max(now + window + skew, mark + time since the last renewal)
//
// The second term lets a holder continue after the database's clock was set back. The mark is then far ahead of now,
// but must go on moving. Even then mark - now never grows. So no node's clock can push a mark away, not even by
// renewing again and again.
//
// # States
//
//	            acquired                     renewed (bound rises, window doubles up to the configured one)
//	┌──────┐ ──────────────▶ ┌──────┐ ◀──┐   unknown (bound stays; a late answer counts from its asking)
//	│ none │                 │ held │ ───┘
//	└──────┘ ◀────────────── └──────┘
//	 │  ▲  │  lost              │ shutdown: seal the generator first, then release
//	 └──┘  └──────────┐         ▼
//	 refused, unknown └────▶ ┌────────┐
//	                shutdown │ sealed │  no ID, ever
//	                         └────────┘
//
// Each arrow has its reason:
//
//   - none → held: one conditional write took a free row, with a new random owner and term + 1.
//   - none → none, refused: a clean answer without a row. The gate is closed, or no worker is free. The answer says
//     until when.
//   - none → none, unknown: the row may have been taken, but the keeper issues nothing from it. The row is free again
//     after its first window and the quarantine.
//   - held → held, unknown: the write may or may not have happened, or may still happen. The bound stays. The next
//     attempt is over a new connection. If the answer comes late, it raises the bound all the same. If none comes until
//     the clock reaches the bound, the generator stops by itself. The keeper goes on renewing, because the
//     worker is still its own if no other process took it. It tries another worker only if the database answers that
//     another session has locked the row.
//   - held → none, lost: a clean answer without a row. The row has another owner or term, is retired, or has a mark
//     below the bound (an acknowledged commit is gone). Or it was not renewed until others might have had it, or the
//     database is a copy. The generator may finish its grant; the keeper acquires at once.
//   - held → held, closed: a clean answer that the database was closed for good. The generator gives its grant back at
//     once. The lease stays in the row, which may be copied to the database that takes the place of this one. A
//     renewal there goes on with it.
//   - any → sealed: Run ends. The generator is sealed before the row is released, so a released row has no live issuer.
//     An acquisition under way may take two more seconds. If it gets a worker, the keeper releases it unused.
//   - Run ends with an error only if no later attempt could succeed. The issuer refuses the grant. Or, before the first
//     grant, the database has another namespace (ErrNamespaceMismatch) or its worker rows elsewhere (ErrElsewhere).
//     After the first grant such an answer is unknown: the address leads elsewhere now, and may lead back.
//
// # When a worker is free
//
//	never used              at once
//	released                when now has reached its mark
//	held and not released   when now has reached mark + quarantine: the holder may be alive, and a failover may have
//	                        lost some of its renewals
//	retired                 never
//
// The gate: after a change of the WAL timeline (a failover, a physical restore) the database grants no worker for the
// length of the quarantine. If the server does not show its timeline, there is no gate, and the keeper logs that.
//
// A server that has just started may have forgotten grants, whatever its timeline says. It may be an old primary that
// another one had replaced for a while. It may be a standby that became primary without a promotion, or an old copy of
// the files. So it grants no worker before its start + max_window + 2 * skew. As long as one primary lives at a time,
// all that it can have forgotten is over by then. Holders renew on if their last renewal is no older than that. With an
// older one, another server may have granted the worker meanwhile, because it had a lower mark. A row that was written
// in this life of the server needs no such wait, and restart_quarantine changes how long it is.
//
// A row may prove that acknowledged writes are gone, if its term is below the holder's, or its mark below what was
// acknowledged to it. The statement that sees it (renew.sql, release.sql) closes the gate as well, and no database can
// join.
//
// Some databases grant and renew nothing until the operator says what they shall be. These are a clone, a database made
// from a template, and one restored from a dump, even in place.
//
// A process may ask with a window above max_window. When it started, max_window was at least that large. So the row has
// forgotten a raise, or max_window was lowered since. Such a process adds what the quarantine lacks, at the gate and to
// each rest.
//
// # Which database answers
//
// A connection stays at the server where it was opened. So no write uses an old one (package connect), and the row that
// is at the address now decides. A suspicion makes the connection old and the renewal due at once. If a lease is lost
// because another database answers, the address may lead to two by turns. Then the keeper takes at most one worker in
// the time that a worker rests; otherwise it would use up all of them.
//
// # How often
//
// A renewal comes when a third of the reserved time has passed, and at the latest 20 s after the renewal before. So
// nearly all of a long window is left at any moment. A failure shows within 20 s, and the clock follows the database's
// as often.
//
// # Invariants
//
//  1. The bound is the acknowledged mark: the issuer's until is never beyond it, whatever was read or written without
//     acknowledgement.
//  2. Anything but one row, the right tags, no notice, no error and ReadyForQuery I is unknown: the bound stays and the
//     connection is closed. No answer yet is unknown, too, and the connection stays open for a minute.
//  3. Marks never fall.
//  4. No tick of a worker lies in the grants of two acquisitions.
//  5. No node's clock can poison a mark. After a renewal mark - now is at most the largest of three values. They are
//     window + skew, its value after the last renewal, and its value without this renewal.
//  6. While the gate is closed nothing is granted.
//  7. The clock never steps back, lags the database by at most a round trip, and reads no wall clock.
//  8. The generator is sealed before its worker is released, and when Run has returned it is sealed.
//  9. Run is one goroutine; when it has returned no connection and no goroutine is left.
//
// Goroutine: the caller starts Keeper.Run, ends it through its context, and waits for it to return. Under it there are
// only those of a login and of late answers (packages connect and acknowledge).
// Granted and Stats are safe for concurrent use.
package lease
