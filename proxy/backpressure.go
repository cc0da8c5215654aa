package proxy

import "slices"

// maxOpen is how many replies may be outstanding before a client has to wait for upstream: far more than any upstream needs
// to be kept busy, and less than half a megabyte of entries.
const maxOpen = 16 << 10

// flushUpstream passes on what is committed, and makes upstream send the replies to all it was sent. A Query and a Sync do that by
// themselves, but for a Sync that a copy has ignored: then its segment goes on, and so does its being forwarded.
func (s *session) flushUpstream() error {
	if err := s.flush(); err != nil {
		return err
	}
	s.segment.forwarded = s.segment.forwarded || s.ledger.mayIgnoreSync()
	if !s.segment.forwarded {
		return nil
	}
	_, err := s.server.Write(flushMessage)
	return err
}

// awaitRoom makes a client wait that has sent much more than upstream has replied to, as PostgreSQL would by not reading. Upstream
// needs nothing more from the client for its replies, but while it copies in; then only an endless stream of what a
// copy ignores gets this far, and of such a session the replies are told apart no longer.
func (s *session) awaitRoom() error {
	l := s.ledger
	if l.open.Load() <= maxOpen || l.lost.Load() {
		return nil
	}
	if err := s.flushUpstream(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.awaitLocked(maxOpen/2) || l.ended || l.lost.Load() {
		return nil
	}
	_, err := s.loseLocked()
	return err
}

// awaitLocked waits, with the ledger locked, until no more than so many replies are outstanding. It reports false where they may
// never come: the session has ended or only relays, or upstream copies in and has not been sent the end of the data.
func (l *ledger) awaitLocked(open int32) bool {
	l.awaited.Store(open)
	defer l.awaited.Store(-1)
	for l.open.Load() > open {
		if l.ended || l.lost.Load() || l.needsData() {
			return false
		}
		l.settled.Wait()
	}
	return true
}

// needsData says that it waits for data of which the client has not sent the end.
func (l *ledger) needsData() bool {
	return l.copyingIn() && !slices.ContainsFunc(l.entries[l.first+1:], endsCopy)
}

func endsCopy(e entry) bool { return e.reply == copyEnd }

// mayIgnoreSync says that an Execute is outstanding that may be the copy whose end was sent, and no Sync since.
func (l *ledger) mayIgnoreSync() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.entries) - 1; i >= l.first && !l.entries[i].reply.ready(); i-- {
		if endsCopy(l.entries[i]) {
			return slices.ContainsFunc(l.entries[l.first:i], func(e entry) bool { return e.reply == owesExecute })
		}
	}
	return false
}
