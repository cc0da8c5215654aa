package segment

import (
	"cmp"
	"slices"

	"pgflurry/internal/report"
)

// Stats lists the tags that had numbers, sorted by name, as operators see them. It does not know the database's name.
func (s *Source) Stats() (all []report.Segment) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, b := range s.buffers {
		b.mu.Lock()
		if u := &b.supply; u.blocks > 0 {
			t := u.counts
			t.Tag, t.Left, t.Fetches, t.Size = u.tag, u.left(), u.blocks+t.Unknown, u.size
			all = append(all, t)
		}
		b.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b report.Segment) int { return cmp.Compare(a.Tag, b.Tag) })
	return all
}
