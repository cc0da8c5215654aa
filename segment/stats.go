package segment

import (
	"cmp"
	"slices"
)

// Stats of one tag since it was first used.
type Stats struct {
	Tag     string
	Given   int64 // numbers
	Left    int64 // numbers in memory
	Skipped int64 // numbers that this process reserved and will never give
	Blocks  int64 // fetched
	Unknown int64 // fetches of unknown outcome: each may have skipped a block
	Size    int64 // of the next fetch
}

// Stats lists the tags that had numbers, sorted by name.
func (s *Source) Stats() (all []Stats) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, b := range s.buffers {
		b.mu.Lock()
		if u := &b.supply; u.blocks > 0 {
			all = append(all, Stats{
				Tag: u.tag, Given: u.given, Left: u.left(), Skipped: u.skipped, Blocks: u.blocks,
				Unknown: u.unknown, Size: u.size,
			})
		}
		b.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b Stats) int { return cmp.Compare(a.Tag, b.Tag) })
	return all
}
