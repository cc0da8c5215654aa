// Package generator makes 64-bit IDs that are unique, ordered by time, and drawn without a lock.
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
// Bit 63, the sign, is always 0: IDs are positive. A layout of fewer than 63 bits leaves the upper ones 0. To read
// an ID of the default layout by hand: id >> 22 is milliseconds since the epoch, id >> 12 & 1023 the worker,
// id & 4095 the sequence.
//
// # How an ID is drawn
//
// The whole state is one word: the last ID issued, and a flag in bit 63. A draw computes the next ID from that word,
// the grant and the clock, and puts it there by compare-and-swap; who loses the race starts over. The swap is the
// moment of issue.
//
//	last ID is …                                            the next ID (first line that fits)
//	of this worker and this tick (or a later one), not full  same tick, sequence + 1
//	of this worker, tick entered by overflow, not full       same tick, sequence + 1   (catching up)
//	of an earlier tick, full                                 next tick, sequence 0, entered by overflow
//	of an earlier tick                                       the clock's tick, sequence from its lower quarter
//	of this tick (or a later one)                            none yet: wait for the next tick
//
// A tick is full when its last sequence is used. "This worker" is the granted one: another worker begins in a tick of
// its own.
//
// The flag marks a tick entered by overflow. Such a tick is used up although the clock has gone on, so that the time
// a caller slept over is not lost: 4096 IDs a millisecond come out even if timers are late. When the last ID has
// fallen back more than 5 ticks it jumps to the clock. A tick entered by the clock is left as soon as the clock is
// on a later one.
//
// A grant is the lease's permission: worker, from, until. IDs carry that worker and a tick in [from, until), nothing
// else is asked: a process that was paused for an hour finds its clock past until and stops. A new grant replaces the
// old one; a draw that still holds the old one stays inside the old one, which was as good.
//
// A draw of one ID looks first whether the last one is of this worker and of the clock's tick and not the last of it,
// as most often. Then one swap of the state for the state + 1 issues the next. This short way asks the grant as the
// long one does, which whoever does not get his ID so begins with the same reading of the clock.
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
// For 6, "the clock" is what Settings.Now returned during the call. Should it step back, IDs go on in the last tick
// until that is full, then wait. ID 0 is never issued, nor any other of tick 0: 0 is the state before the first ID.
package generator
