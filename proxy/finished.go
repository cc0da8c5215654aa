package proxy

import "pgflurry/proxy/statement"

// finishedPortal is the unnamed portal of an answered unit: all its rows were sent, so executing it again gives none. Upstream has
// never heard of it, so what the client does with it is answered here, for as long as PostgreSQL would keep it: to the end
// of the transaction, which is with its segment unless a block is open, or until upstream makes or drops another unnamed portal
// (stale.go). A Bind, Query or Close that was refused before that, or skipped, leaves it there: in a failed transaction then.
type finishedPortal struct {
	form    *statement.Form
	formats []uint16
	block   uint64 // ledger.block when it was bound
	portals uint64 // staleness.portals when it was bound
}

type portalState uint8

const (
	portalGone portalState = iota // or never there, or nobody can say: upstream judges
	portalLives
	portalAborted // in a transaction that has failed: PostgreSQL refuses its use with 25P02
)

// refusedParse is what upstream refuses in a failed transaction, before it does anything.
var refusedParse = []byte("P\x00\x00\x00\x16pgflurry\x00SELECT\x00\x00\x00")

// finishedState tells what has become of the finished portal, of which the client has just sent a message. Where upstream
// still owes replies, they are waited for. So nothing is owed when the message is answered, even in a segment of which something
// was forwarded.
//
// Behind a Bind or Close in its segment nothing is waited for: if that is executed the portal is upstream's, else upstream skips
// what follows.
func (s *session) finishedState() (portalState, error) {
	if s.finished.form == nil || s.unit.bound || s.segment.bound {
		return portalGone, nil
	}
	if err := s.abandonUnit(); err != nil { // a Parse without its Bind
		return portalGone, err
	}
	l := s.ledger
	settled := l.open.Load() == 0
	if !settled {
		if err := s.flushUpstream(); err != nil {
			return portalGone, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !settled {
		settled = l.awaitLocked(0)
	}
	switch {
	case s.finished.portals != l.stale.portals:
		s.finished.form = nil // so that it is not waited for again
		return portalGone, nil
	case !settled, l.skipping, l.lost.Load(), s.finished.block != l.block:
		return portalGone, nil
	case l.status == 'E':
		return portalAborted, nil
	}
	return portalLives, nil
}

// answerFinished answers Describe, Execute or Close of the finished portal, with what complete appends.
func (s *session) answerFinished(kind byte, size int) (bool, error) {
	state, err := s.finishedState()
	switch {
	case err != nil || state == portalGone:
		return false, err
	case state == portalAborted:
		if kind == 'C' {
			return false, nil // which PostgreSQL does even then
		}
		return false, s.inject(entry{reply: owesParse, swallow: true}, refusedParse)
	}
	if err := s.gather(); err != nil {
		return false, err
	}
	switch kind {
	case 'D':
		s.out = appendRowDescription(s.out, s.finished.form, s.finished.formats)
	case 'E':
		s.out = appendComplete(s.out, 0)
	case 'C':
		s.finished.form = nil
		s.out = append(s.out, '3', 0, 0, 0, 4)
	}
	s.segment.local = true
	return s.answered(size)
}
