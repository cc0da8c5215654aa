package segment

import "time"

const (
	// lead is how long what is left of a block must last, at the present rate, for the next fetch to be put off.
	lead = 10 * time.Second
	// shortLife and longLife of a block double and halve the size of the next fetch.
	shortLife = 15 * time.Minute
	longLife  = 30 * time.Minute
	// rateOver is the shortest time that a rate is measured over: one burst is no rate.
	rateOver = time.Second

	firstRest   = 100 * time.Millisecond // after a fetch that failed; doubles up to longestRest
	longestRest = 5 * time.Second
	unknownRest = time.Second // after the answer that a tag has no row
)

// A span is what is left of a block: next, next+1, … until-1.
type span struct{ next, until int64 }

func (s span) left() int64 { return s.until - s.next }

// A supply is one tag's two blocks, and the decision when to fetch the next and how large. It does no I/O, starts
// nothing, has no lock and no clock of its own: at is monotonic, from any origin.
//
// It is used as: take whenever numbers are wanted; where due says so, begin, and later exactly one of fetched, fellBack
// and failed.
type supply struct {
	tag            string
	current, ahead span
	full           int64         // numbers in the current block when it was new
	began          time.Duration // when it came into use
	rate           float64       // numbers per second, of the block before
	mark           int64         // end of the last block that was acknowledged; 0: none
	least, size    int64         // the row's step; what the next fetch asks for. 0: not known yet
	wanted         int64         // the most that a caller has missed since the last fetch
	raise          bool          // the row was below mark, and nothing is left of what it gave

	fetching bool
	failures int           // in a row
	rest     time.Duration // no fetch before
	why      error         // of the last failure; nil: the last fetch gave a block

	given, skipped  int64 // numbers
	blocks, unknown int64 // fetches
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
	s.given += int64(count)
	if s.current.left() == 0 {
		s.usedUp(at)
	}
	return first, count
}

// usedUp learns from how long the current block lasted, and goes on with the next one if it is there.
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

// due says that a fetch should begin now.
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

// begin is what to ask for.
func (s *supply) begin() Request {
	s.fetching = true
	return Request{Tag: s.tag, Size: max(s.size, s.wanted, 1), Above: s.mark, Raise: s.raise}
}

// fetched takes a block in.
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

// fellBack: the row has forgotten blocks that it gave.
// What is left of them is dropped, and only then the row is raised.
func (s *supply) fellBack() {
	s.drop()
	s.fetching, s.raise = false, true
}

// step takes in what the row says about the size of blocks.
func (s *supply) step(least int64) {
	s.least = least
	s.size = max(s.size, least)
}

// failed notes a fetch that gave nothing, and rests.
func (s *supply) failed(why error, at time.Duration) {
	s.fetching, s.why = false, why
	s.rest = at + min(firstRest<<min(s.failures, 16), longestRest)
	s.failures++
}

// forget: the tag has no row. It may get one again, and that may begin anywhere.
func (s *supply) forget(at time.Duration) {
	s.drop()
	s.raise, s.fetching, s.failures = false, false, 0
	s.mark, s.least, s.size, s.rate, s.wanted = 0, 0, 0, 0, 0
	s.why, s.rest = ErrUnknownTag, at+unknownRest
}

// refreshed takes in a row that was read after mark had been acknowledged. wentBack: it is below mark; what is left of
// the blocks is dropped.
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

// drop skips what is left.
func (s *supply) drop() {
	s.skipped += s.left()
	s.current, s.ahead, s.full = span{}, span{}, 0
}

func (s *supply) left() int64 { return s.current.left() + s.ahead.left() }
