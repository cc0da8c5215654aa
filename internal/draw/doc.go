// Package draw is the fair queue for IDs. All clients of a proxy draw there: those of the relay, and those of the ID
// database. It shares out one source, the generator, which has a limited number of IDs in each tick.
//
//	              at once, while the tick has IDs and nobody waits
//	Queue.Draw ──┬──────────────────────────────────────────────────────────────► Runs
//	            │  one ID        ones ─────────┐
//	            ├─ up to 256     portions ─────┼─► serve: one turn, up to 256 IDs
//	            └─ more          reservations ─┘   after the other
//
//	draw.go    Queue and Draw      serve.go   the fair queue: who waits, and who is next
//	runs.go    what was drawn, until it is written
//
// A turn is one run of at most a portion, 256 IDs. While draws wait, a goroutine serves them. It starts with the first
// one and ends with the last one. It draws for those who wait, so no draw waits until another one's goroutine runs.
//
// # The order of the fair queue
//
//   - A draw of one ID comes first. It also tries at once before it waits. Such draws cannot starve the others: no
//     network brings as many statements as a tick has IDs.
//   - Portions and reservations have every other turn.
//   - Among its like, who came first is first, until its draw is finished. The ID database draws each portion anew, so
//     its clients have one portion in turn.
//
// # Reservations
//
// The relay answers a batch whole or not at all, so it draws all IDs before it writes one. A draw of more than a
// portion is a reservation. It is begun only if the source can fill it within its patience, and all reservations before
// it. Otherwise it draws nothing. Beside clients that draw portions it can take twice as long.
//
// A draw of a portion or less whose patience is over tries once more: its turn may not have come because the machine is
// slow. So it fails only if the source has nothing at that moment.
//
// Patience ends when the first portion was drawn. Then the reservation is finished: if it was given up, its IDs would
// only be drawn again elsewhere. It still fails if the source does, or stands still for a second.
//
// # Invariants
//
// Each has a test of its name.
//
//  1. A draw of one ID waits for the turn under way, and for other draws of one ID. It waits for nothing else.
//  2. A reservation that the source cannot fill within patience draws nothing.
//  3. A draw that fails because it is late has lost at most a portion, unless the source stood still.
//  4. The IDs of a draw strictly increase. Nobody gets what was drawn for a draw that failed.
//  5. A draw that does not wait allocates nothing and starts no goroutine.
//  6. When nobody waits, there is no goroutine.
package draw
