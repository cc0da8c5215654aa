package segment

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"pgflurry/internal/logs"
)

// Run fetches blocks from the first draw until ctx ends, whatever the database does meanwhile. It returns when the
// fetches under way are over, 2 s later at most. Call it once. End ctx only when no caller needs numbers any more: the
// rest is skipped.
func (s *Source) Run(ctx context.Context) {
	defer s.end()
	select {
	case <-s.drawn:
	case <-ctx.Done():
		return
	}
	var work sync.WaitGroup
	defer work.Wait()
	for range fetchers {
		work.Go(func() { s.fetchFrom(ctx, s.known) })
	}
	work.Go(func() { s.fetchFrom(ctx, s.fresh) })
	work.Go(func() { s.keepRefreshing(ctx) })
}

// fetchFrom serves one queue. It closes a connection that was idle for a while, and one that is older than the origin.
func (s *Source) fetchFrom(ctx context.Context, queue <-chan *buffer) {
	store := s.open()
	defer store.Close()
	origin := s.Origin()
	idle := time.NewTimer(idleLimit)
	defer idle.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case b := <-queue:
			if ctx.Err() != nil { // both were ready; a block fetched now would be skipped
				return
			}
			if now := s.Origin(); now != origin {
				store.Close()
				origin = now
			}
			s.fetch(ctx, store, origin, b)
			idle.Reset(idleLimit)
		case <-idle.C:
			store.Close()
		}
	}
}

// fetch fetches a block. It asks for one of the origin alone, because what the supply remembers is of that.
func (s *Source) fetch(ctx context.Context, store Store, origin *Origin, b *buffer) {
	b.mu.Lock()
	request := b.supply.begin()
	b.mu.Unlock()
	request.Origin = origin.text

	// Shutdown does not cut the fetch short: the block would be lost without a trace.
	attempt, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchLimit)
	defer cancel()
	var block Block
	err := error(ErrElsewhere)
	if origin.text != "" {
		block, err = store.Fetch(attempt, request)
	}
	elsewhere := s.elsewhere(origin, err)

	at := s.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.wake()
	switch {
	case elsewhere, s.Origin() != origin:
		b.supply.refused(block)
	case errors.Is(err, ErrUnknownTag):
		s.remove(b, at)
	case errors.Is(err, ErrFellBack):
		left := b.supply.left()
		b.supply.fellBack()
		s.logWentBack(b, block.Before, request.Above, left)
		s.enqueue(b) // raises the row
	case err != nil:
		if !errors.Is(err, ErrExhausted) {
			b.supply.counts.Unknown++
		}
		b.supply.failed(err, at)
		s.logFailure(ctx, b, err, at)
	default:
		b.supply.fetched(block, at)
		if b.failing.Right("") {
			s.log.Info("numbers are fetched again", "tag", b.supply.tag)
		}
	}
}

// keepRefreshing checks the tags in use every minute.
func (s *Source) keepRefreshing(ctx context.Context) {
	store := s.open()
	defer store.Close()
	every := time.NewTicker(refreshEvery)
	defer every.Stop()
	var failing logs.Reminder
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			err := s.refresh(ctx, store)
			store.Close()
			switch {
			case err == nil:
				failing.Right("")
			case ctx.Err() == nil:
				s.logNotRefreshed(&failing, err)
			}
		}
	}
}

// refresh notices tags that were removed, and rows that have changed. If the database does not answer, nothing changes.
func (s *Source) refresh(ctx context.Context, store Store) error {
	origin := s.Origin()
	for batch := range slices.Chunk(s.inUse(), refreshAtOnce) {
		tags := make([]string, len(batch))
		marks := make(map[string]int64, len(batch))
		for i, u := range batch {
			tags[i], marks[u.tag] = u.tag, u.mark
		}
		attempt, cancel := context.WithTimeout(ctx, refreshLimit)
		rows, err := store.Rows(attempt, origin.text, tags)
		cancel()
		if s.elsewhere(origin, err) || s.Origin() != origin { // the marks are forgotten
			return nil
		}
		if err != nil {
			return err
		}
		found := make(map[string]Row, len(rows))
		for _, r := range rows {
			found[r.Tag] = r
		}
		for _, u := range batch {
			row, ok := found[u.tag]
			s.compare(u, row, ok)
		}
	}
	return nil
}

// use is a tag in use, with the mark from before its row was read.
type use struct {
	*buffer
	tag  string
	mark int64
}

// inUse lists the tags that had a block. It forgets those that never had one, because they have no row.
func (s *Source) inUse() (all []use) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for tag, b := range s.buffers {
		b.mu.Lock()
		switch {
		case b.supply.mark > 0:
			all = append(all, use{b, tag, b.supply.mark})
		case !b.supply.fetching:
			b.gone = true
			delete(s.buffers, tag)
		}
		b.mu.Unlock()
	}
	return all
}

func (s *Source) compare(u use, row Row, ok bool) {
	b := u.buffer
	b.mu.Lock()
	defer b.mu.Unlock()
	left := b.supply.left()
	switch {
	case !ok && b.supply.mark == u.mark && !b.supply.fetching:
		s.remove(b, s.now())
		b.wake()
	case ok && b.supply.refreshed(row, u.mark):
		s.logWentBack(b, row.Next, u.mark, left)
		if b.supply.due(s.now()) {
			s.enqueue(b) // raises the row again
		}
	}
}

// remove forgets a tag that has no row. The buffer is locked.
func (s *Source) remove(b *buffer, at time.Duration) {
	if b.supply.mark > 0 {
		s.log.Info("the tag was removed: no numbers of it are given any more", "tag", b.supply.tag,
			"skipped", b.supply.left())
	}
	b.supply.removed(at)
}

// end drops the rest of all blocks, for good.
func (s *Source) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended.Store(true)
	for _, b := range s.buffers {
		b.mu.Lock()
		if b.supply.mark > 0 {
			s.log.Info("numbers are left and skipped", "tag", b.supply.tag, "skipped", b.supply.left(),
				"given", b.supply.counts.Given)
		}
		b.supply.drop()
		b.wake()
		b.mu.Unlock()
	}
}
