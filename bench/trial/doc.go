// Package trial lets contenders take turns at workloads, and gives a sample of each turn: what was done, in what time,
// and the processor time that the watched servers spent on it.
//
//	round 0   A B C │ A B C │ …   warm-up, thrown away
//	round 1   C A B │ B A C │ …   the contenders of a workload, one right after the other, in an order from the seed
//	round 2   …
//
// A shared machine drifts by more than what is to be measured, so contenders are interleaved. Rounds are the outermost
// loop, so that a run that is interrupted has all workloads, with fewer rounds.
//
// Processor time of a server is that of its process and all below it, in user and system mode, divided by the
// operations (cpu.go). It is taken when the clients of a turn have connected and drawn once each, which fills the
// caches of their backends. It is taken again before they leave. Then the turn waits until their backends are gone, so
// that no contender pays for the one before it (measure_cpu.go).
package trial
