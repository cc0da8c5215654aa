// Package trial lets contenders take turns at workloads. A turn gives a sample: what was done, in what time, and the
// processor time that the watched servers spent on it.
//
//	round 0   A B C │ A B C │ …   warm-up, thrown away
//	round 1   C A B │ B A C │ …   the contenders of a workload, one right after the other, in an order from the seed
//	round 2   …
//
// A shared machine drifts by more than the differences to measure, so contenders are interleaved. Rounds are the
// outermost loop, so that an interrupted run has all workloads, with fewer rounds.
//
// We measure the processor time of a server over its process and all below it, in user and system mode (cpu.go). The
// measurement begins after every client of the turn has connected and drawn once, which fills the caches of their
// backends. It ends before they disconnect. Then the turn waits until the backends have ended, so that no contender
// pays for the one before it (measure_cpu.go). A figure is the time divided by the number of operations.
package trial
