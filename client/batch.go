package client

import "math/bits"

// batch is how many IDs a draw asks for where nobody wants more.
type batch struct {
	size  int     // 1 to MaxBatch
	drawn int     // IDs of the last draw; 0 if there was none, or it failed
	came  reading // when they came
	rest  int     // of them, those that were thrown away
}

// landed notes a draw.
func (b *batch) landed(ids int, now reading) { b.drawn, b.came, b.rest = ids, now, 0 }

// thrown notes that the rest of the last draw was too old.
func (b *batch) thrown(ids int) { b.rest = ids }

// failed notes a draw that tells nothing about the demand.
func (b *batch) failed() { b.drawn = 0 }

// next is the size of the draw that now begins.
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

// roundUp is the power of two for n, at most limit. So a driver that prepares each text has few of them to keep.
func roundUp(n, limit int) int {
	return min(1<<bits.Len(uint(max(min(n, limit), 1)-1)), limit)
}
