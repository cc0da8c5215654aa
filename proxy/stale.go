package proxy

import (
	"bytes"
	"errors"
	"strings"

	"pgflurry/proxy/statement"
)

// A local answer never reaches upstream, so upstream's unnamed statement and unnamed portal may differ from what the
// client believes them to be. Nothing is wrong until the client uses one of them in a message that is forwarded:
//
//	the client did          upstream has        before the client's next forwarded         the proxy sends
//	local Parse ""          another, or none    Bind or Describe of statement ""           the kept Parse
//	local Query             one that should     Bind or Describe of statement ""           Close statement ""
//	                        be gone
//	local Bind ""           another, or none    Describe, Execute or Close of portal ""    Close portal ""
//	local Query             the same            the same                                   the same
//	either                  one that reads      Execute of a named portal, which may be    the same
//	                        a table             DDL of the table
//
// The reply to what the proxy sends is swallowed by its place in the ledger; an error is relayed in place, as if it had
// come for the client's message. Staleness ends when the reply to a forwarded Parse, Bind or Close of "", or Query, arrives, not
// when it is sent: upstream may be skipping, in which case it never happened.
//
// A Parse of "" or Query that fails has dropped the unnamed statement too (drop_unnamed_stmt), unless it could not be read: if it
// cannot be taken apart its error tells so; if its text cannot be decoded, not surely. So upstream's is closed before the next use.
//
// What fails may have happened in part, and in a failed transaction the portal from before it can still be used, if only to be
// refused. In PostgreSQL's order (exec_simple_query, exec_bind_message) a Query drops the unnamed statement first of all, and
// the unnamed portal when a statement of it begins to run: when one gave a reply that is no error, or failed as only what runs
// does. An empty Query leaves the portal alone. A Bind has replaced the portal unless it was refused for what is checked before.
type staleness struct {
	statement staleKind
	portal    bool
	current   parsed // the client's unnamed statement
	inFlight  int    // forwarded Parse, Bind and Close of "", and Query, whose fate is open
	portals   uint64 // raised when upstream made or dropped its unnamed portal for the client
	reading   bool   // upstream has an unnamed portal that was not executed to its end
}

type staleKind uint8

const (
	inStep  staleKind = iota // upstream has what the client believes, or it does not matter
	reparse                  // upstream lacks the client's statement: send the kept Parse
	remove                   // upstream has one the client believes gone: send Close
)

// Messages of the proxy's own.
var (
	closeStatement = []byte{'C', 0, 0, 0, 6, 'S', 0}
	closePortal    = []byte{'C', 0, 0, 0, 6, 'P', 0}
	flushMessage   = []byte{'H', 0, 0, 0, 4}
)

// localQuery: a simple Query destroys the unnamed statement and portal.
func (s *staleness) localQuery() {
	s.statement = remove
	s.portal = true
	s.current.form = nil
}

// localParse keeps the Parse of a unit that was answered.
func (s *staleness) localParse(f *statement.Form, message []byte) {
	s.statement = reparse
	s.current.form = f
	s.current.parse = append(s.current.parse[:0], message...)
}

// arrived: upstream has executed the message of e, or answered it with an error.
func (s *staleness) arrived(e *entry) {
	if e.rebinds {
		s.portal, s.reading = false, e.reply == owesBind
		if !e.swallow { // else the client has another, of an answered unit, or none
			s.portals++
		}
	}
	switch {
	case e.reply != owesQuery && !e.unnamed, e.portal, e.unread:
		return
	case e.failed && (e.swallow || e.reply == owesClose):
		// The transaction is aborted: upstream refused the proxy's Parse, and the client's statement still stands.
		return
	case e.failed && s.statement != inStep:
		s.statement = remove
	default:
		s.statement = inStep
	}
	s.current.form = nil
	if e.parse != nil && !e.failed {
		s.current.form = e.parse.form
	}
}

// isUnread tells of an error whether upstream could not take the message apart. What runs has a context when it says the same.
func isUnread(body []byte) bool {
	return string(errorField(body, 'C')) == "08P01" && bytes.HasPrefix(errorField(body, 'R'), []byte("pq_")) && errorField(body, 'W') == nil
}

// failedBehindPortal tells of an error whether the unnamed portal was replaced before it.
func failedBehindPortal(e *entry, body []byte) bool {
	code := string(errorField(body, 'C'))
	switch {
	case e.reply == owesQuery:
		// Integrity constraints and savepoints are the business of what runs. Errors of other classes come from anywhere and are
		// taken for earlier ones; where they are not, a later use of the portal may find another code (README).
		return strings.HasPrefix(code, "23") || strings.HasPrefix(code, "3B")
	case e.reply != owesBind || !e.unnamed:
		return false
	case code == "26000", code == "25P02": // no such statement; the transaction has failed
		return false
	}
	return code != "08P01" || string(errorField(body, 'R')) != "exec_bind_message" // the number of parameters, or of their formats
}

// mendStatement makes upstream's unnamed statement what the client believes, before a message that uses it is forwarded.
func (s *session) mendStatement() error {
	if s.segment.parsed {
		return nil
	}
	kind, parse, f, err := s.staleStatement()
	if err != nil || kind == inStep {
		return err
	}
	s.segment.parsed = true
	if kind == remove {
		return s.inject(entry{reply: owesClose, swallow: true, unnamed: true}, closeStatement)
	}
	return s.inject(entry{reply: owesParse, swallow: true, unnamed: true, parse: &parsed{form: f}}, parse)
}

// staleStatement tells what has to be mended, once that is certain: while a Parse "" or Query is in flight, it waits
// for the ReadyForQuery that upstream is sure to send.
func (s *session) staleStatement() (staleKind, []byte, *statement.Form, error) {
	l := s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stale.statement == inStep {
		return inStep, nil, nil, nil
	}
	if err := s.settleLocked(); err != nil {
		return inStep, nil, nil, err
	}
	return l.stale.statement, l.stale.current.parse, l.stale.current.form, nil
}

// mendPortal does the same for the unnamed portal.
func (s *session) mendPortal() error {
	if s.segment.bound {
		return nil
	}
	stale, err := s.stalePortal((*staleness).portalDiffers)
	if err != nil || !stale {
		return err
	}
	s.segment.bound = true
	return s.inject(unnamedClosed, closePortal)
}

// releasePortal closes the unnamed portal that the client believes replaced, and that keeps others from changing what it reads. What
// the client has in its place stays.
func (s *session) releasePortal() error {
	if s.segment.bound || s.segment.released {
		return nil
	}
	stale, err := s.stalePortal((*staleness).portalInTheWay)
	if err != nil || !stale || s.ledger.lost.Load() {
		return err
	}
	s.segment.released = true
	return s.inject(unnamedClosed, closePortal)
}

var unnamedClosed = entry{reply: owesClose, swallow: true, unnamed: true, portal: true}

func (s *staleness) portalDiffers() bool  { return s.portal }
func (s *staleness) portalInTheWay() bool { return s.portal && s.reading }

// stalePortal tells whether that is so of the unnamed portal, once it is certain.
func (s *session) stalePortal(is func(*staleness) bool) (bool, error) {
	l := s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if !is(&l.stale) {
		return false, nil
	}
	if err := s.settleLocked(); err != nil {
		return false, err
	}
	return is(&l.stale), nil
}

// settleLocked waits, with the ledger locked, until nothing is in flight that may end a staleness. Upstream needs nothing more
// from the client for that, unless it waits for copy data: whatever else comes is an error then, mended or not.
func (s *session) settleLocked() error {
	l := s.ledger
	if l.stale.inFlight == 0 || l.owed.Load() == 0 {
		return nil
	}
	l.mu.Unlock()
	err := s.flushUpstream()
	l.mu.Lock()
	if err != nil {
		return err
	}
	for l.owed.Load() > 0 && !l.ended && !l.lost.Load() && !l.needsData() {
		l.settled.Wait()
	}
	return nil
}

// inject sends a message of the proxy's own. What the client sent before it goes first.
func (s *session) inject(e entry, message []byte) error {
	if err := s.flush(); err != nil {
		return err
	}
	s.ledger.push(e)
	if s.ledger.lost.Load() { // which may have happened just now; with e in the ledger it ends the session
		return clientError{failDesync, errors.New("upstream's unnamed statement or portal cannot be mended in a session that only relays")}
	}
	_, err := s.server.Write(message)
	return err
}
