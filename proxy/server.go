package proxy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"pgflurry/proxy/frame"
)

// errTorn: the ledger does not match what upstream sends, and a reply to a message of the proxy's own may be among it.
var errTorn = errors.New("upstream's reply matches nothing that was sent")

// relayServer passes on everything from upstream until it closes, and settles the ledger on the way.
func (s *session) relayServer() error {
	for {
		refused, gone := s.fromServer.Each(s.takeReplies)
		switch {
		case refused == frame.ErrLarge:
			refused = s.streamReply()
		case gone != nil:
			refused = gone
		}
		if refused != nil {
			return refused
		}
	}
}

// takeReplies passes on the messages that are there. A run of whole ones is one write; the part of a message that has not come
// yet never delays the messages before it.
func (s *session) takeReplies() error {
	in := s.fromServer
	for {
		f, err := in.Next()
		switch {
		case err != nil:
			return err
		case f.Large:
			return frame.ErrLarge
		case !f.Whole:
			in.Turn(len(in.Unread()) == 0 && in.Last() == 'Z' && !s.leaving.Load())
			return s.flushReplies()
		}
		if err := s.takeReply(f.Kind, f.Body, f.Size); err != nil {
			return err
		}
	}
}

// takeReply settles one message and adds it to the run, or takes it out.
func (s *session) takeReply(kind byte, body []byte, size int) error {
	in := s.fromServer
	relay, err := s.settleReply(kind, body)
	if err != nil {
		return err
	}
	if !relay {
		if err := s.flushReplies(); err != nil {
			return err
		}
		in.Drop(size)
		return nil
	}
	in.Pass(size)
	return nil
}

// streamReply passes on a message that is larger than the buffer.
func (s *session) streamReply() error {
	f, err := s.fromServer.Next()
	if err != nil {
		return err
	}
	relay, err := s.settleReply(f.Kind, f.Body)
	if err != nil {
		return err
	}
	if !relay { // nothing that is swallowed is larger than a buffer
		return clientError{failDesync, errTorn}
	}
	return s.tell(func(w io.Writer) error { return s.fromServer.Stream(w, f.Size) })
}

// flushReplies writes the run to the client. What it settles is counted while the client's writer is held: a client that
// has its ReadyForQuery finds nothing owed, and no local reply can get ahead of these bytes.
func (s *session) flushReplies() error {
	in := s.fromServer
	if len(in.Committed()) == 0 && s.ledger.relayed.entries == 0 {
		return nil
	}
	return s.tell(func(w io.Writer) error {
		s.ledger.settle()
		return in.Flush(w)
	})
}

// tell writes to the client. While the proxy drains, relayClient looks again: it may have found the writer busy, or replies owed.
func (s *session) tell(f func(io.Writer) error) error {
	err := s.toClient.Do(f)
	if s.proxy.draining.Load() {
		s.interrupt()
	}
	return err
}

// settleReply finds the entry a reply belongs to and says whether the client gets it.
// Message types: https://www.postgresql.org/docs/current/protocol-message-formats.html.
func (s *session) settleReply(kind byte, body []byte) (relay bool, err error) {
	switch kind {
	case 'D', 'd', 'N', 'A', 'S', 'K', 'v', 'c', 'V':
		return true, nil // rows, copy data, and what may come at any time
	case 'R':
		return s.settleAuthentication(body)
	}
	l := s.ledger
	if l.lost.Load() {
		s.sawFatal = kind == 'E' && isFatal(body)
		return true, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.head()
	switch kind {
	case 'E':
		s.sawFatal = isFatal(body)
		return s.failLocked(e, body)
	case 'Z':
		return s.readyLocked(e, body)
	}
	if e == nil {
		return s.loseLocked()
	}
	if e.reply == owesQuery {
		noteTag(l, kind, body)
		e.rebinds = e.rebinds || kind != 'I'
		switch kind {
		case 'G', 'W':
			e.copying = true
			l.settled.Broadcast()
		case 'C':
			s.endCopyLocked(e)
		}
		return true, nil
	}
	return s.extendedLocked(e, kind, body)
}

// extendedLocked settles a reply to an extended-query message.
func (s *session) extendedLocked(e *entry, kind byte, body []byte) (relay bool, err error) {
	l := s.ledger
	switch {
	case kind == '1' && e.reply == owesParse:
		if e.stmt != nil {
			e.stmt.live, e.stmt.epoch = true, l.epoch
		}
	case kind == '2' && e.reply == owesBind, kind == '3' && e.reply == owesClose:
		e.rebinds = e.unnamed && e.portal
	case kind == 't' && e.reply == owesDescribe:
		if e.stmt != nil && e.stmt.form.CountParam && len(body) == 2+4*e.stmt.form.Params() {
			e.stmt.countType = binary.BigEndian.Uint32(body[len(body)-4:])
		}
		return true, nil // RowDescription or NoData follows
	case (kind == 'T' || kind == 'n') && e.reply == owesDescribe:
	case (kind == 'C' || kind == 's' || kind == 'I') && e.reply == owesExecute:
		noteTag(l, kind, body)
		l.stale.reading = l.stale.reading && (!e.unnamed || kind == 's')
		s.endCopyLocked(e)
	case (kind == 'G' || kind == 'H' || kind == 'W') && e.reply == owesExecute:
		e.copying = kind != 'H'
		l.settled.Broadcast()
		return true, nil
	default:
		return s.loseLocked()
	}
	relay = !e.swallow
	l.stale.arrived(e)
	l.pop()
	return relay, nil
}

// readyLocked settles a ReadyForQuery.
func (s *session) readyLocked(e *entry, body []byte) (relay bool, err error) {
	if e == nil || !e.reply.ready() || len(body) != 1 {
		return s.loseLocked()
	}
	l := s.ledger
	l.status = body[0]
	if l.status == 'I' {
		l.block++
		l.stale.reading = false
	}
	l.started.Store(true)
	l.stale.arrived(e)
	l.pop()
	return true, nil
}

// failLocked settles an ErrorResponse: one of an extended-query message makes upstream skip to the next Sync, one of a
// Query, FunctionCall or Sync does not (PostgresMain: ignore_till_sync). Without an entry it is the server's farewell, or
// a Flush it could not read, after which it skips as well.
func (s *session) failLocked(e *entry, body []byte) (relay bool, err error) {
	l := s.ledger
	if e == nil {
		l.skip()
		return true, nil
	}
	if e.copying && !l.copyEndsCleanly() {
		return s.loseLocked()
	}
	e.copying = false
	e.failed, e.unread = true, isUnread(body)
	e.rebinds = e.rebinds || failedBehindPortal(e, body) // a Query may have failed behind a reply
	if e.reply.ready() {
		return true, nil
	}
	l.stale.arrived(e)
	l.pop()
	l.skip()
	return true, nil
}

// loseLocked stops telling replies apart: from here on the session only relays.
func (s *session) loseLocked() (relay bool, err error) {
	if !s.ledger.lose() {
		return false, clientError{failDesync, errTorn}
	}
	s.log.Debug("session only relays from here on: its replies cannot be told apart")
	return true, nil
}

// Command tags after which remembered statements may be gone (pgbouncer #972; DO and CALL may run any SQL), and after which
// the portals of a transaction may be.
var (
	forgettingTags = []string{"DEALLOCATE", "DISCARD ALL", "DO", "CALL"}
	endingTags     = []string{"COMMIT", "ROLLBACK", "PREPARE TRANSACTION", "CLOSE CURSOR ALL"}
	committingTags = []string{"DO", "CALL"} // outside a block they may have run a COMMIT
)

func noteTag(l *ledger, kind byte, body []byte) {
	if kind != 'C' {
		return
	}
	if startsWithOne(body, forgettingTags) {
		l.epoch++
	}
	if startsWithOne(body, endingTags) || (l.status == 'I' && startsWithOne(body, committingTags)) {
		l.block++
	}
}

func startsWithOne(tag []byte, of []string) bool {
	for _, t := range of {
		if len(tag) > len(t) && string(tag[:len(t)]) == t && (tag[len(t)] == 0 || tag[len(t)] == ' ') {
			return true
		}
	}
	return false
}

// isFatal reads the severity that is not translated.
func isFatal(body []byte) bool {
	severity := string(errorField(body, 'V'))
	return severity == "FATAL" || severity == "PANIC"
}

// errorField finds one field of an ErrorResponse, https://www.postgresql.org/docs/current/protocol-error-fields.html.
func errorField(body []byte, name byte) []byte {
	for len(body) > 1 {
		field, rest, ok := bytes.Cut(body[1:], []byte{0})
		if !ok {
			return nil
		}
		if body[0] == name {
			return field
		}
		body = rest
	}
	return nil
}
