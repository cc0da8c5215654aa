package segment

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

// logFailure says that a fetch failed, once until one succeeds or another reason comes.
func (s *Source) logFailure(ctx context.Context, b *buffer, err error) {
	if ctx.Err() != nil || b.lastLogged == err.Error() {
		return
	}
	b.lastLogged = err.Error()
	if errors.Is(err, ErrExhausted) {
		s.log.Error("no block is left: the tag has come to the end of bigint", "tag", b.supply.tag,
			"left", b.supply.left())
		return
	}
	s.log.Warn("no block could be fetched", "tag", b.supply.tag, "left", b.supply.left(), "cause", err)
}

// logWentBack says what no correct database does.
func (s *Source) logWentBack(b *buffer, found, acknowledged, skipped int64) {
	s.log.Error("the row of the tag has fallen back: the database has lost a commit, or the tag was made anew too "+
		"soon; numbers below the acknowledged one may have been given twice",
		"tag", b.supply.tag, "max_id", found, "acknowledged", acknowledged, "skipped", skipped)
}

// Stats of one tag since it was first used.
type Stats struct {
	Tag     string
	Given   int64 // numbers
	Left    int64 // numbers in memory
	Skipped int64 // numbers that were reserved and will never be given by this process
	Blocks  int64 // fetched
	Unknown int64 // fetches of unknown outcome: each may have skipped a block
	Size    int64 // of the next fetch
}

// Stats lists the tags that had numbers, by name.
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
