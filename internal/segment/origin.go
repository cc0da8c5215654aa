package segment

import "errors"

// An Origin says from which database, and from which table in it, the numbers of a Source come. Each change makes
// another one. So pointers are compared, not texts.
type Origin struct {
	text string // pgflurry.segment_origin() there; empty: not known, and no numbers are given
}

// Origin is the present one. Take it before a look.
func (s *Source) Origin() *Origin { return s.origin.Load() }

// From says where the numbers come from, as a look has found it. Empty: no number may be given. before is the Origin
// when the look asked. If there is another one by now, the look came too early and is ignored.
//
// If the origin changes, the source forgets all numbers, and which of them it has given: the rows decide anew. It
// refuses blocks of fetches that began before.
//
// A look over an old connection may name an old origin. No number comes of that: fetches use connections that were
// opened since the last change, find themselves elsewhere, and end it.
func (s *Source) From(before *Origin, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before != s.origin.Load() || before.text == text {
		return
	}
	s.origin.Store(&Origin{text})
	var tags, skipped int64
	for _, b := range s.buffers {
		b.mu.Lock()
		if left := b.supply.left(); left > 0 {
			tags, skipped = tags+1, skipped+left
		}
		b.supply.forget()
		b.mu.Unlock()
	}
	if before.text != "" {
		s.logElsewhere(before.text, text, tags, skipped)
	}
}

// elsewhere says whether an answer came from another database or table than the origin. Then no number is given until a
// look has found out where they come from now.
func (s *Source) elsewhere(asked *Origin, err error) bool {
	if !errors.Is(err, ErrElsewhere) {
		return false
	}
	if s.Origin() == asked && asked.text != "" {
		s.From(asked, "")
		s.suspicion.Raise()
	}
	return true
}
