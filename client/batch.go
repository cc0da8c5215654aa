package client

import "math/bits"

// batch is how many IDs a draw asks for, unless waiting calls want more.
type batch struct {
	size  int     // 1 to MaxBatch
	drawn int     // IDs of the last draw; 0 if there was none, or it failed
	came  reading // when they came
	rest  int     // how many of drawn were thrown away
}

// landed records a successful draw.
func (b *batch) landed(ids int, now reading) { b.drawn, b.came, b.rest = ids, now, 0 }

// thrown records that the rest of the last draw was too old.
func (b *batch) thrown(ids int) { b.rest = ids }

// failed records a draw that shows nothing about the demand.
func (b *batch) failed() { b.drawn = 0 }

// next returns the size of the draw that now begins.
func (b *batch) next(now reading, s Settings) int {
	switch {
	case b.drawn == 0:
	case b.rest > 0:
		b.size = roundUp(b.drawn-b.rest, s.MaxBatch)
	case now.since(b.came) <= s.MaxAge/4:
		b.size = min(2*b.size, s.MaxBatch)
	}
	return b.size
}

// roundUp returns the smallest power of two that is at least n, but no more than limit. Few different numbers mean few
// texts for a driver that prepares and keeps each one.
func roundUp(n, limit int) int {
	return min(1<<bits.Len(uint(max(min(n, limit), 1)-1)), limit)
}
