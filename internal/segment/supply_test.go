package segment

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var errLost = errors.New("the answer was lost")

// counter is the row of one tag.
type counter struct{ next, step int64 }

func (c *counter) fetch(r Request) (Block, error) {
	b := Block{Before: c.next, Step: c.step, First: max(c.next, r.Above)}
	if c.next < r.Above && !r.Raise {
		return b, ErrFellBack
	}
	b.Until = b.First + min(max(r.Size, c.step), maxBlock)
	c.next = b.Until
	return b, nil
}

// answer runs a fetch that succeeds. fellBack: it found that the row had fallen back, and took nothing.
func (c *counter) answer(s *supply, at time.Duration) (fellBack bool) {
	return c.complete(s, s.begin(), at)
}

func (c *counter) complete(s *supply, r Request, at time.Duration) (fellBack bool) {
	b, err := c.fetch(r)
	if err != nil {
		s.fellBack()
		return true
	}
	s.fetched(b, at)
	return false
}

// history is a model of any history of one tag. Draws, fetches that succeed, fail or lose their answer, calls of the
// function, time, a changed step and lost commits come in any order.
type history struct {
	row     counter
	supply  supply
	at      time.Duration
	pending *Request
	given   map[int64]bool // by anybody
	last    int64          // the last number of the supply
	// doubtful: numbers below it may come twice, until the supply notices that the row has fallen back: both the supply
	// and others give them. If others have brought the row to its mark again, the supply cannot notice.
	doubtful int64
}

func (h *history) take(t *rapid.T) {
	n := rapid.SampledFrom([]int{1, 1, 2, 7, 100, 10_000}).Draw(t, "n")
	before := h.supply
	first, count := h.supply.take(n, h.at)
	if count < 0 || count > n {
		t.Fatalf("asked for %d numbers, got %d", n, count)
	}
	for i := range int64(count) {
		if h.given[first+i] && first+i >= h.doubtful {
			t.Fatalf("%d came twice", first+i)
		}
		if first+i <= h.last {
			t.Fatalf("%d came after %d", first+i, h.last)
		}
		h.given[first+i] = true
		h.last = first + i
	}
	if count == 0 && before.left() > 0 {
		t.Fatalf("nothing was given of %+v", before)
	}
	if h.supply.due(h.at) {
		r := h.supply.begin()
		h.pending = &r
		if r.Size < h.supply.least || r.Size > maxBlock || r.Size < 1 {
			t.Fatalf("a fetch of %d numbers, with step %d", r.Size, h.supply.least)
		}
	}
	// Invariant 4.
	s := &h.supply
	if used := s.full - s.current.left(); s.ahead.left() == 0 && !s.fetching && h.at >= s.rest && 10*used >= s.full {
		t.Fatalf("%d of %d numbers are used, and nothing is ahead or being fetched", used, s.full)
	}
	if s.fetching != (h.pending != nil) {
		t.Fatal("fetching is not what it should be")
	}
}

func (h *history) answer(t *rapid.T) {
	if h.pending == nil {
		return
	}
	r := *h.pending
	h.pending = nil
	switch rapid.IntRange(0, 5).Draw(t, "outcome") {
	case 0: // never reached the row
		h.supply.failed(errLost, h.at)
	case 1: // its answer was lost
		h.row.fetch(r)
		h.supply.failed(errLost, h.at)
	default:
		below := h.row.next < r.Above
		if fellBack := h.row.complete(&h.supply, r, h.at); fellBack {
			if !below || h.supply.left() > 0 {
				t.Fatalf("%d numbers are left after a row had %d and %d was acknowledged",
					h.supply.left(), h.row.next, r.Above)
			}
			return
		}
		if below {
			h.doubtful = 0 // from now on the row is above all that the supply has given
		}
		if h.supply.least != h.row.step || h.supply.size < h.supply.least || h.supply.size > maxBlock {
			t.Fatalf("the next size is %d, with step %d", h.supply.size, h.row.step)
		}
	}
}

func TestInvariants1To5HoldInAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := history{
			row: counter{
				next: rapid.Int64Range(1, 1000).Draw(t, "first"), step: rapid.Int64Range(1, 5000).Draw(t, "step"),
			},
			given: map[int64]bool{},
		}
		t.Repeat(map[string]func(*rapid.T){
			"take":   h.take,
			"take2":  h.take,
			"answer": h.answer,
			"function": func(t *rapid.T) {
				n := rapid.Int64Range(1, 50).Draw(t, "n")
				for i := range n {
					if h.given[h.row.next+i] && h.row.next+i >= h.doubtful {
						t.Fatalf("the function gave %d again", h.row.next+i)
					}
					h.given[h.row.next+i] = true
				}
				h.row.next += n
			},
			"time": func(t *rapid.T) {
				h.at += rapid.SampledFrom([]time.Duration{
					time.Microsecond, time.Second, time.Minute, 16 * time.Minute, time.Hour,
				}).Draw(t, "passes")
			},
			"new step": func(t *rapid.T) { h.row.step = rapid.Int64Range(1, maxBlock).Draw(t, "step") },
			"refresh": func(*rapid.T) {
				if mark := h.supply.mark; mark > 0 &&
					h.supply.refreshed(Row{Next: h.row.next, Step: h.row.step}, mark) != (h.row.next < mark) {
					t.Fatalf("a row with %d, though %d was acknowledged", h.row.next, mark)
				}
			},
			"lost commits": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "rarely") == 0 && h.row.next > 1 && h.pending == nil {
					h.row.next = rapid.Int64Range(1, h.row.next-1).Draw(t, "back to")
					h.doubtful = h.supply.mark
					// numbers of others may come again, but not those of the supply (last)
					h.given = map[int64]bool{}
				}
			},
		})
	})
}

// usesUp makes a supply use up one block within a time, and take the next one.
func usesUp(t *testing.T, s *supply, row *counter, life time.Duration) {
	t.Helper()
	if s.ahead.left() == 0 {
		row.answer(s, s.began)
	}
	end := s.began + life
	for s.current.left() > 1 {
		s.take(int(s.current.left()-1), end)
	}
	if _, n := s.take(1, end); n != 1 {
		t.Fatalf("the last number did not come: %+v", s)
	}
}

func TestInvariant5TheSizeFollowsHowLongBlocksLast(t *testing.T) {
	row := &counter{next: 1, step: 2000}
	s := &supply{tag: "order"}
	row.answer(s, 0)
	for i, c := range []struct {
		life time.Duration
		size int64
	}{
		{time.Minute, 4000},
		{15*time.Minute - 1, 8000},
		{15 * time.Minute, 8000},
		{30 * time.Minute, 8000},
		{30*time.Minute + 1, 4000},
		{time.Hour, 2000},
		{time.Hour, 2000},
		{0, 4000},
	} {
		usesUp(t, s, row, c.life)
		if s.size != c.size {
			t.Errorf("after block %d, which lasted %v, the next fetch is of %d numbers, expected %d",
				i, c.life, s.size, c.size)
		}
	}
	for range 12 {
		usesUp(t, s, row, time.Second)
	}
	if s.size != maxBlock {
		t.Errorf("it grew to %d, expected %d", s.size, maxBlock)
	}
	row.step = 3000
	for range 20 {
		usesUp(t, s, row, time.Hour)
	}
	if s.size != 3000 {
		t.Errorf("it shrank to %d, expected the row's new step of 3000", s.size)
	}
}

func TestInvariant4ABusyTagFetchesBeforeATenthIsUsed(t *testing.T) {
	row := &counter{next: 1, step: 2000}
	s := &supply{tag: "order"}
	row.answer(s, 0)
	if s.take(1, 0); s.due(0) {
		t.Error("fetches after the first number of a tag nobody knows to be busy")
	}
	if s.take(198, 10*time.Minute); s.due(10 * time.Minute) {
		t.Error("fetches after 199 of 2000 numbers in ten minutes")
	}
	if s.take(1, 10*time.Minute); !s.due(10 * time.Minute) {
		t.Error("does not fetch though a tenth is used")
	}
	// 190 numbers in a second: the other 1810 would last 9.5 s
	s = &supply{tag: "order"}
	row.answer(s, 0)
	if s.take(100, time.Millisecond); s.due(time.Millisecond) {
		t.Error("fetches after one burst of 100 of 2000 numbers")
	}
	if s.take(90, time.Second); !s.due(time.Second) {
		t.Error("does not fetch though the rest lasts less than 10 s")
	}
	// The last block was used up in a second, so the first number of the next one starts a fetch.
	usesUp(t, s, row, time.Second)
	if s.current.left() != 0 {
		s.take(1, s.began)
	}
	if !s.due(s.began) {
		t.Error("does not fetch though the block before lasted a second")
	}
}

func TestACallerThatWantsMoreThanABlockGetsALargerOne(t *testing.T) {
	row := &counter{next: 1, step: 10}
	s := &supply{tag: "order"}
	if _, n := s.take(5000, 0); n != 0 || !s.due(0) {
		t.Fatal("a supply without a block gives numbers")
	}
	row.answer(s, 0)
	if _, n := s.take(5000, 0); n != 5000 {
		t.Errorf("%d numbers at once", n)
	}
	if s.size != 20 {
		t.Errorf("the next size is %d, expected twice the step", s.size)
	}
	if r := s.begin(); r.Size != 20 {
		t.Errorf("the next fetch is of %d numbers; one large caller makes one large block", r.Size)
	}
}

func TestInvariant8ARowThatFellBackIsRaisedAndTheRestIsNotGiven(t *testing.T) {
	row := &counter{next: 1, step: 2000}
	s := &supply{tag: "order"}
	row.answer(s, 0)
	s.take(500, 0)
	row.next = 1 // the commit is lost
	if !s.refreshed(Row{Next: row.next, Step: row.step}, s.mark) {
		t.Fatal("not noticed")
	}
	if _, n := s.take(1, 0); n != 0 || s.counts.Skipped != 1500 {
		t.Errorf("%d numbers are given of a block that others may have; %d were skipped, expected 1500",
			n, s.counts.Skipped)
	}
	if !s.due(0) {
		t.Fatal("no fetch is due")
	}
	row.answer(s, 0)
	if first, n := s.take(1, 0); first != 2001 || n != 1 || row.next != 4001 {
		t.Errorf("goes on at %d with the row at %d, expected 2001 and 4001", first, row.next)
	}
	row.next = 10 // again, and now a fetch is the first to notice
	if !row.answer(s, 0) || row.next != 10 || s.left() != 0 {
		t.Errorf("the fetch does not say that the row had fallen back, or took from it: "+
			"it is at %d, %d numbers are left", row.next, s.left())
	}
	row.answer(s, 0)
	if first, n := s.take(1, 0); first != 4001 || n != 1 {
		t.Errorf("goes on at %d, expected 4001: what was left of the block before may be somebody else's", first)
	}
}
