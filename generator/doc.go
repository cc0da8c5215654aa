// Package generator makes 64-bit IDs that are unique and ordered by time. A draw takes no lock.
//
//	bit  63  62                         22 21    17 16    12 11         0
//	    ┌───┬─────────────────────────────┬────────┬────────┬────────────┐
//	    │ 0 │ timestamp                   │ data-  │ worker │ sequence   │   layout 41/5/5/12 ("datacenter")
//	    │   │ ticks since the epoch       │ center │        │            │
//	    └───┴─────────────────────────────┴────────┴────────┴────────────┘
//	          41 bits                       5        5        12
//
//	timestamp   whole units since the epoch. Unit 1 ms and epoch 2024-01-01T00:00:00Z by default: 41 bits end on
//	            2093-09-06
//	datacenter  upper bits of the worker; 0 bits by default, which leaves 10 for the worker: layout 41/0/10/12
//	            ("twitter")
//	worker      leased by one process at a time. Wherever a worker is one number, it is datacenter and worker bits
//	            together
//	sequence    counts the IDs of one worker in one tick: 4096 in a millisecond by default
//
// Bit 63, the sign, is always 0: IDs are positive. A layout of fewer than 63 bits leaves the upper ones 0.
//
// To read an ID of the default layout by hand:
//
//	milliseconds since the epoch   id >> 22
//	worker                         id >> 12 & 1023
//	sequence                       id & 4095
//
// The proxy draws from a Generator. Package lease supplies its worker and its clock; package node connects the two. The
// commands and the migrations use Layout alone, to read IDs and to check a layout.
//
// # How an ID is drawn
//
// The whole state is one word: the last ID issued, and a flag in bit 63. A draw computes the next ID from that word,
// the grant and the clock. It stores the result by compare-and-swap, and starts over if another draw was faster. The
// swap is the moment of issue.
//
//	last ID is …                                            the next ID (first line that fits)
//	of this worker and this tick (or a later one), not full  same tick, sequence + 1
//	of this worker, tick entered by overflow, not full       same tick, sequence + 1   (catching up)
//	of an earlier tick, at most 6 behind the clock, full     next tick, sequence 0, entered by overflow
//	of the tick before the clock's                           the clock's tick, sequence from its lower quarter
//	of an earlier tick                                       the clock's tick, any sequence that leaves room for a run
//	of this tick (or a later one)                            none yet: wait for the next tick
//
// A tick is full when its last sequence is used. "This worker" is the granted one: another worker begins in a tick of
// its own.
//
// The flag marks a tick entered by overflow. Draws use up such a tick even if the clock has gone on. A caller who slept
// too long because of a late timer therefore loses no IDs: the rate stays at 4096 a millisecond. When the last ID falls
// more than 5 ticks behind the clock, the next one jumps to the clock. A tick entered by the clock is left as soon as
// the clock shows a later one.
//
// A grant is the lease's permission: worker, from, until. Each ID carries that worker and a tick in [from, until). No
// other check is needed. A process that was paused for an hour finds that its clock is past until, and stops. A new
// grant replaces the old one. A draw that still holds the old grant stays inside it, and the old grant stays valid.
//
// A draw of one ID has a fast path. It applies when the last ID has the granted worker and the clock's tick, and the
// tick has sequences left. Then one swap of the state for state + 1 issues the ID. The fast path checks the grant like
// the slow path. If the fast path fails, the slow path reuses the same clock reading.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. IDs of one generator strictly increase, also across a change of worker and a clock that steps back.
//  2. The worker in an ID is a granted one.
//  3. The tick of an ID lies in [from, until) of the grant whose worker it carries.
//  4. No ID without a grant.
//  5. After Seal no ID is issued: what a call still returns was issued before.
//  6. The tick of an ID is not ahead of the clock, and at most 5 ticks behind it.
//  7. A run lies in one tick.
//  8. At the end of the timestamp bits there are no IDs any more, only ErrEndOfTime.
//  9. Drawing allocates nothing, takes no lock, does no I/O and starts no goroutine. TryNextN never waits.
//
// For 6, "the clock" is what Settings.Now returned during the call. If the clock steps back, IDs continue in the last
// tick until that tick is full. Then draws wait. No ID has tick 0, so ID 0 is never issued: it is the state before the
// first ID.
package generator
