package segment

import (
	"time"

	"pgflurry/internal/connect"
	"pgflurry/internal/report"
)

const (
	// lead: the next fetch may wait as long as the rest of the block lasts this long, at the present rate.
	lead = 10 * time.Second
	// shortLife and longLife: a block that lasts less than shortLife doubles the size of the next fetch. One that lasts
	// more than longLife halves it.
	shortLife = 15 * time.Minute
	longLife  = 30 * time.Minute
	// rateOver is the shortest time over which a rate is measured: one burst is not a rate.
	rateOver = time.Second

	firstRest   = 100 * time.Millisecond // after a fetch that failed; doubles up to longestRest
	longestRest = 5 * time.Second
	unknownRest = time.Second // after the answer that a tag has no row
)

// A span is the rest of a block: next, next+1, … until-1.
type span struct{ next, until int64 }

func (s span) left() int64 { return s.until - s.next }

// A supply holds the two blocks of one tag, and decides when to fetch the next one and how large. It does no I/O,
// starts nothing, and has no lock and no clock of its own. Its times (at) are monotonic, from any origin.
//
// Call take whenever numbers are wanted. If due says so, call begin, and later exactly one of fetched, fellBack,
// refused, removed and failed.
type supply struct {
	tag            string
	current, ahead span
	full           int64         // numbers in the current block when it was new
	began          time.Duration // when its first number could be given
	rate           float64       // numbers per second, over the previous block
	mark           int64         // end of the last block that was acknowledged; 0: none
	least, size    int64         // the row's step, and the size of the next fetch; 0: not known yet
	wanted         int64         // the most that a caller asked for in vain since the last fetch
	raise          bool          // the row was below mark, and the blocks were dropped: the next fetch raises the row

	fetching bool
	failures int           // in a row
	rest     time.Duration // no fetch before this time
	why      error         // of the last failure; nil: the last fetch gave a block

	blocks int64          // fetches that gave one
	counts report.Segment // only Given, Skipped and Unknown
}

// take gives up to n numbers of the current block. A count of 0 means that there are none in memory.
func (s *supply) take(n int, at time.Duration) (first int64, count int) {
	count = int(min(int64(n), s.current.left()))
	if count == 0 {
		s.wanted = min(max(s.wanted, int64(n)), maxBlock)
		return 0, 0
	}
	first = s.current.next
	s.current.next += int64(count)
	s.counts.Given += int64(count)
	if s.current.left() == 0 {
		s.usedUp(at)
	}
	return first, count
}

// usedUp goes on with the next block if there is one. How long the current block lasted decides the size of the next
// fetch.
func (s *supply) usedUp(at time.Duration) {
	life := at - s.began
	s.rate = float64(s.full) / max(life, rateOver).Seconds()
	switch {
	case life < shortLife:
		s.size = min(2*s.size, maxBlock)
	case life > longLife:
		s.size = max(s.size/2, s.least)
	}
	next := s.ahead
	s.ahead = span{}
	s.use(next, at)
}

func (s *supply) use(block span, at time.Duration) {
	s.current, s.full, s.began = block, block.left(), at
}

// due reports whether a fetch should begin now.
func (s *supply) due(at time.Duration) bool {
	if s.fetching || s.ahead.left() > 0 || at < s.rest {
		return false
	}
	left := s.current.left()
	used := s.full - left
	if left == 0 || 10*used >= s.full {
		return true
	}
	rate := max(s.rate, float64(used)/max(at-s.began, rateOver).Seconds())
	return float64(left) <= rate*lead.Seconds()
}

// begin starts a fetch, and returns its request.
func (s *supply) begin() Request {
	s.fetching = true
	return Request{Tag: s.tag, Size: max(s.size, s.wanted, 1), Above: s.mark, Raise: s.raise}
}

// fetched stores a block.
func (s *supply) fetched(b Block, at time.Duration) {
	s.raise, s.fetching, s.failures, s.rest, s.why, s.wanted = false, false, 0, 0, nil, 0
	s.blocks++
	s.mark = b.Until
	s.step(b.Step)
	if block := (span{b.First, b.Until}); s.current.left() == 0 {
		s.use(block, at)
	} else {
		s.ahead = block
	}
}

// fellBack drops the blocks, because the row has forgotten that it gave them. Only then the next fetch raises the row.
func (s *supply) fellBack() {
	s.drop()
	s.fetching, s.raise = false, true
}

// step stores the row's step, the least size of a block.
func (s *supply) step(least int64) {
	s.least = least
	s.size = max(s.size, least)
}

// failed records a fetch that gave nothing, and sets the time of the next attempt.
func (s *supply) failed(why error, at time.Duration) {
	s.fetching, s.why = false, why
	s.failures++
	s.rest = at + connect.Doubled(firstRest, longestRest, s.failures)
}

// forget drops everything about the row of the tag. Another row may begin anywhere. A fetch that is under way stays.
func (s *supply) forget() {
	s.drop()
	s.raise, s.failures, s.why, s.rest = false, 0, nil, 0
	s.mark, s.least, s.size, s.rate, s.wanted = 0, 0, 0, 0, 0
}

// removed is forget for a tag that has no row.
func (s *supply) removed(at time.Duration) {
	s.forget()
	s.fetching, s.why, s.rest = false, ErrUnknownTag, at+unknownRest
}

// refused ends a fetch whose answer is of another origin. Its block, if there is one, is skipped.
func (s *supply) refused(b Block) {
	s.fetching = false
	s.counts.Skipped += b.Until - b.First
}

// refreshed compares a row that was read after mark had been acknowledged. If the row is below mark, it drops the
// blocks and returns true.
func (s *supply) refreshed(r Row, mark int64) (wentBack bool) {
	if s.mark == 0 { // forgotten meanwhile
		return false
	}
	s.step(r.Step)
	if wentBack = r.Next < mark; wentBack {
		s.drop()
		s.raise = true
	}
	return wentBack
}

// drop skips the rest of the blocks.
func (s *supply) drop() {
	s.counts.Skipped += s.left()
	s.current, s.ahead, s.full = span{}, span{}, 0
}

func (s *supply) left() int64 { return s.current.left() + s.ahead.left() }
