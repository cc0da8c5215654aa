package proxy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"pgflurry/proxy/frame"
	"pgflurry/proxy/statement"
)

// maxEarly is how many messages other than passwords a client may send before it is authenticated.
const maxEarly = 1000

// errTerminated: the client said goodbye.
var errTerminated = errors.New("session terminated")

// segment is what has happened since the last Sync.
type segment struct {
	forwarded bool // an extended-query message was forwarded: so will be the rest
	local     bool // a unit was answered: its Sync is ours, unless the rest is forwarded
	parsed    bool // upstream's unnamed statement is what the client believes, should upstream get that far
	bound     bool // the same for the unnamed portal; or upstream skips
	released  bool // upstream's unnamed portal is not in the way of a named one
	first     bool // its first Execute was answered, outside a transaction block, and upstream does not know (pipeline.go)
}

// relayClient takes the client's messages until it leaves.
func (s *session) relayClient() error {
	for {
		refused, gone := s.fromClient.Each(s.takeMessages)
		switch {
		case refused == frame.ErrLarge:
			refused = s.streamMessage()
		case gone != nil:
			refused = s.clientGone(gone)
		}
		if refused != nil {
			return refused
		}
	}
}

// takeMessages takes the messages that are there. Replies and forwarded runs are written once per drained read buffer, and never
// held back for more input; only the messages of a unit wait for their Execute.
func (s *session) takeMessages() error {
	in := s.fromClient
	for {
		if s.ledger.started.Load() {
			in.SetMax(frame.MaxBody)
		}
		f, err := in.Next()
		switch {
		case err != nil:
			return s.malformed(err)
		case f.Large:
			return frame.ErrLarge
		case f.Whole:
			if err := s.takeMessage(f.Kind, f.Body, f.Size); err != nil {
				return err
			}
			continue
		}
		if err := s.flush(); err != nil {
			return err
		}
		if !in.Full() {
			in.Turn(len(in.Unread()) == 0 && (in.Last() == 'Q' || in.Last() == 'S'))
			return s.mayRead()
		}
		if err := s.abandonUnit(); err != nil { // a unit larger than the buffer is not worth holding
			return err
		}
	}
}

// malformed ends the session after passing on what came before the message that cannot be read.
func (s *session) malformed(cause error) error {
	if err := s.abandonUnit(); err != nil {
		return err
	}
	if err := s.flush(); err != nil {
		return err
	}
	return clientError{failProtocol, cause}
}

// mayRead comes before each read. While draining it is also where a session that owes nothing ends.
func (s *session) mayRead() error {
	if err := s.awaitRoom(); err != nil {
		return err
	}
	if s.proxy.draining.Load() && s.atRest() {
		return clientError{code: failDraining}
	}
	return nil
}

// clientGone passes on what the client sent before it left: that is PostgreSQL's to judge, half messages included.
func (s *session) clientGone(cause error) error {
	if err := s.abandonUnit(); err != nil {
		return err
	}
	s.fromClient.PassAll()
	if err := s.flush(); err != nil {
		return err
	}
	return cause
}

// flush writes the local replies to the client, then what is committed to upstream. In this order: a local reply belongs
// before the replies to anything forwarded after it.
func (s *session) flush() error {
	if len(s.out) > 0 {
		if err := s.toClient.Write(s.out); err != nil {
			return err
		}
		s.proxy.buffers.PutReplies(s.out)
		s.out = nil
	}
	return s.fromClient.Flush(s.server)
}

// takeMessage decides one message: answer, hold, or forward.
func (s *session) takeMessage(kind byte, body []byte, size int) error {
	var done bool
	var err error
	switch kind {
	case 'd':
		if s.unit.form == nil {
			s.fromClient.Pass(size)
			return nil
		}
	case 'Q':
		done, err = s.answerQuery(body, size)
	case 'P':
		done, err = s.holdParse(body, size)
	case 'B':
		done, err = s.holdBind(body, size)
	case 'D':
		done, err = s.holdDescribe(body, size)
	case 'E':
		done, err = s.answerExecute(body, size)
	case 'C':
		done, err = s.answerClose(body, size)
	case 'S':
		done, err = s.answerSync(body, size)
	case 'H':
		done, err = s.answerFlush(body, size)
	}
	if done || err != nil {
		return err
	}
	return s.forward(kind, size)
}

// forward passes one whole message on, after the messages of an unfinished unit.
func (s *session) forward(kind byte, size int) error {
	if err := s.abandonUnit(); err != nil {
		return err
	}
	return s.forwardOne(kind, size)
}

func (s *session) forwardOne(kind byte, size int) error {
	in := s.fromClient
	if err := s.enter(kind, in.Unread()[frame.HeaderSize:size]); err != nil {
		return err
	}
	in.Pass(size)
	if kind == 'X' {
		s.leaving.Store(true) // before upstream can react
		return errors.Join(s.flush(), errTerminated)
	}
	return nil
}

// abandonUnit forwards the messages that were held.
func (s *session) abandonUnit() error {
	in := s.fromClient
	held := len(in.Held())
	in.Rewind()
	s.unit.reset()
	for held > 0 {
		f, err := in.Next()
		if err != nil {
			return err
		}
		if err := s.forwardOne(f.Kind, f.Size); err != nil {
			return err
		}
		held -= f.Size
	}
	return nil
}

// streamMessage passes on a message that is larger than the buffer.
func (s *session) streamMessage() error {
	in := s.fromClient
	if err := s.abandonUnit(); err != nil {
		return err
	}
	// Names stand at the front of a message; fill a narrow buffer so that they are there.
	refused, gone := in.Each(func() error {
		if err := s.flush(); err != nil {
			return err
		}
		if len(in.Unread()) >= frame.BufferSize {
			return frame.ErrLarge
		}
		return s.mayRead()
	})
	switch {
	case gone != nil:
		return s.clientGone(gone)
	case refused != frame.ErrLarge:
		return refused
	}
	f, err := in.Next()
	if err != nil {
		return err
	}
	if err := s.enter(f.Kind, f.Body); err != nil {
		return err
	}
	if err := s.flush(); err != nil {
		return err
	}
	return in.Stream(s.server, f.Size)
}

// enter notes in the ledger what upstream will owe for a message that is about to be forwarded, and first mends what the
// message would find different from what the client believes (stale.go). body may be cut off after a buffer's length.
func (s *session) enter(kind byte, body []byte) error {
	l := s.ledger
	if !l.started.Load() && kind != 'p' && kind != 'X' {
		if s.early++; s.early > maxEarly {
			return clientError{failProtocol, fmt.Errorf("%d messages before authentication", s.early)}
		}
	}
	switch kind {
	case 'Q':
		s.segment.first = false // it ends the transaction
		l.push(entry{reply: owesQuery})
	case 'F':
		s.segment.first = false
		l.push(entry{reply: owesFunction})
	case 'S':
		s.segment = segment{}
		l.push(entry{reply: owesSync})
	case 'c', 'f':
		l.push(entry{reply: copyEnd})
	case 'P', 'B', 'D', 'E', 'C':
		if err := s.beginSegment(kind); err != nil {
			return err
		}
		e, err := s.enterExtended(kind, body)
		if err != nil {
			return err
		}
		s.segment.forwarded = true
		l.push(e)
	case 'H':
		s.segment.forwarded = true // a malformed one makes upstream skip to the Sync, which it then has to get
		s.segment.bound = s.segment.bound || len(body) > 0
	case 'X', 'd':
	default:
		if kind == 'p' && !l.started.Load() {
			return s.checkBinding(body)
		}
		// PostgreSQL ends the session over it (invalid frontend message type); until then nothing is certain.
		l.mu.Lock()
		defer l.mu.Unlock()
		_, err := s.loseLocked()
		return err
	}
	return nil
}

func (s *session) enterExtended(kind byte, body []byte) (entry, error) {
	switch kind {
	case 'P':
		return s.enterParse(body), nil
	case 'B':
		portal, rest := cutName(body)
		statement, _ := cutName(rest)
		e := entry{reply: owesBind, unnamed: len(portal) == 0, portal: true}
		var err error
		if len(statement) == 0 {
			err = s.mendStatement()
		}
		if e.unnamed {
			s.segment.bound = true
		}
		return e, err
	case 'E':
		portal, _ := cutName(body)
		if len(portal) > 0 {
			return entry{reply: owesExecute}, s.releasePortal()
		}
		return entry{reply: owesExecute, unnamed: true, portal: true}, s.mendPortal()
	}
	what, name := cutTarget(body)
	unnamed := len(name) == 0
	if kind == 'C' {
		if what == 'S' {
			delete(s.named, string(name))
			s.segment.parsed = s.segment.parsed || unnamed
		} else if unnamed {
			s.segment.bound = true
		}
		return entry{reply: owesClose, unnamed: unnamed, portal: what == 'P'}, nil
	}
	e := entry{reply: owesDescribe}
	var err error
	switch {
	case what == 'S' && unnamed:
		err = s.mendStatement()
	case what == 'S':
		e.stmt = s.named[string(name)]
	case unnamed:
		err = s.mendPortal()
	}
	return e, err
}

// enterParse remembers the text of a statement that may be answered once upstream has accepted it.
func (s *session) enterParse(body []byte) entry {
	name, f := s.matchParse(body)
	e := entry{reply: owesParse}
	if len(name) == 0 {
		s.segment.parsed = true
		e.unnamed = true
		if f != nil {
			e.parse = &parsed{form: f}
		}
		return e
	}
	delete(s.named, string(name))
	if f != nil && len(s.named) < maxNamed {
		e.stmt = &prepared{form: f}
		if s.named == nil {
			s.named = make(map[string]*prepared)
		}
		s.named[string(name)] = e.stmt
	}
	return e
}

// cutName takes a zero-terminated name off the front. Where the end is not in sight the name is not empty, and that is all
// that matters.
func cutName(b []byte) (name, rest []byte) {
	i := bytes.IndexByte(b, 0)
	if i < 0 {
		if len(b) == 0 {
			return []byte{'?'}, nil
		}
		return b, nil
	}
	return b[:i], b[i+1:]
}

// cutTarget reads what Describe and Close name: S or P, and its name.
func cutTarget(body []byte) (what byte, name []byte) {
	if len(body) == 0 {
		return 0, []byte{'?'}
	}
	name, _ = cutName(body[1:])
	return body[0], name
}

// matchParse reads a Parse message. The form is nil where the text is none that may be answered, or where the client
// declares parameter types that the form has no place for.
func (s *session) matchParse(body []byte) (name []byte, f *statement.Form) {
	name, rest := cutName(body)
	end := bytes.IndexByte(rest, 0)
	if end < 0 || len(rest) < end+3 {
		return name, nil
	}
	types := int(binary.BigEndian.Uint16(rest[end+1:]))
	if len(rest) != end+3+4*types {
		return name, nil
	}
	f = s.matchText(rest[:end])
	if f == nil || types > f.Params() {
		return name, nil
	}
	if f.Tag != nil && f.Tag.Param && types > 0 {
		switch binary.BigEndian.Uint32(rest[end+3:]) {
		case 0, oidText, oidVarchar: // 0: not declared, so text
		default:
			return name, nil
		}
	}
	return name, f
}
