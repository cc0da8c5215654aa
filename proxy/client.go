package proxy

import (
	"errors"

	"pgflurry/proxy/conversation"
	"pgflurry/proxy/frame"
	"pgflurry/proxy/wire"
)

// headBytes is how much the proxy looks at of a message that is larger than the buffer: two names, and the byte before
// a name.
const headBytes = 2*(wire.NameBytes+1) + 1

// errTerminated means that the client sent Terminate.
var errTerminated = errors.New("session terminated")

// relayClient handles the client's messages until the client leaves.
func (s *session) relayClient() error {
	s.fromClient.SetMax(frame.MaxBody)
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

// takeMessages handles the messages that are in the buffer. When the buffer is drained, it writes all replies and
// forwarded messages at once. It never delays them for more input. Only messages that may yet be answered wait for
// their Sync.
func (s *session) takeMessages() error {
	in := s.fromClient
	for {
		f, err := in.Next()
		switch {
		case err != nil:
			return s.malformed(err)
		case f.Large:
			return frame.ErrLarge
		case f.Whole:
			if err := s.takeMessage(f); err != nil {
				return err
			}
			continue
		}
		if err := s.flush(); err != nil {
			return err
		}
		if !in.Full() {
			return s.mayRead()
		}
		if err := s.forwardHeld(); err != nil { // a batch larger than the buffer goes to PostgreSQL
			return err
		}
	}
}

// malformed ends the session because a message cannot be read. It forwards what came before that message.
func (s *session) malformed(cause error) error {
	if err := s.forwardHeld(); err != nil {
		return err
	}
	if err := s.flush(); err != nil {
		return err
	}
	return clientError{failProtocol, cause}
}

// mayRead runs before each read. While the proxy drains, a session that owes nothing ends here.
func (s *session) mayRead() error {
	s.conversation.AwaitRoom()
	if s.proxy.registry.draining.Load() && s.atRest() {
		return clientError{code: failDraining}
	}
	return nil
}

// clientGone forwards all that the client sent before it left, half messages included. PostgreSQL decides about them.
func (s *session) clientGone(cause error) error {
	if err := s.forwardHeld(); err != nil {
		return err
	}
	s.fromClient.PassAll()
	if err := s.flush(); err != nil {
		return err
	}
	return cause
}

// flush writes the local replies to the client, then what is committed to upstream. The order matters: a local reply
// comes before the replies to anything that is forwarded after it.
func (s *session) flush() error {
	if err := s.answers.flush(); err != nil {
		return err
	}
	return s.flushCommitted()
}

// flushCommitted writes what is committed to upstream. The proxy's own messages go in front of it, in the same write.
func (s *session) flushCommitted() error {
	if len(s.before) == 0 {
		return s.fromClient.Flush(s.upstream)
	}
	defer func() { s.before = nil }()
	if err := s.fromClient.Flush(&s.before); err != nil {
		return err
	}
	_, err := s.upstream.Write(s.before)
	return err
}

// prefix holds the proxy's own messages that go to upstream before the client's next ones.
type prefix []byte

func (p *prefix) Write(b []byte) (int, error) {
	*p = append(*p, b...)
	return len(b), nil
}

// answer answers the batch that ends with this message. If it cannot, it returns false and has done nothing.
func (s *session) answer(f frame.Frame) (done bool, err error) {
	in := s.fromClient
	done, err = s.answers.answer(s.conversation, f.Kind == wire.FrontendQuery, in.Held())
	if !done || err != nil {
		return done, err
	}
	// The buffer may still have messages that upstream owes nothing for, such as stray CopyData.
	if err := s.flushCommitted(); err != nil {
		return false, err
	}
	in.Drop(f.Size)
	return true, nil
}

// takeMessage answers, holds or forwards one message.
func (s *session) takeMessage(f frame.Frame) error {
	in, c := s.fromClient, s.conversation
	if f.Kind == wire.FrontendCopyData && !c.Holds() {
		in.Pass(f.Size)
		return nil
	}
	switch c.Hear(f.Kind, f.Body, f.Size) {
	case conversation.Hold:
		in.Hold(f.Size)
		if f.Kind == wire.FrontendExecute {
			in.Hold(c.Repeats(in.Held(), in.Unread()))
		}
		return nil
	case conversation.Answer:
		if done, err := s.answer(f); done || err != nil {
			return err
		}
	}
	if err := s.forwardHeld(); err != nil {
		return err
	}
	return s.forward(f)
}

// forwardHeld forwards the held messages.
func (s *session) forwardHeld() error {
	in, c := s.fromClient, s.conversation
	if !c.Holds() {
		return nil
	}
	left := len(in.Held())
	c.Release()
	in.Rewind()
	for left > 0 {
		f, err := in.Next()
		if err != nil {
			return err
		}
		if err := s.forward(f); err != nil {
			return err
		}
		left -= f.Size
	}
	return nil
}

// forward forwards one whole message.
func (s *session) forward(f frame.Frame) error {
	if err := s.note(f); err != nil {
		return err
	}
	s.countUnpermitted()
	s.fromClient.Pass(f.Size)
	if f.Kind == wire.FrontendTerminate {
		s.leaving.Store(true) // before upstream can react
		return errors.Join(s.flush(), errTerminated)
	}
	return nil
}

// note tells the conversation about a message that is about to be forwarded. It keeps the messages that must go to
// upstream first in s.before.
func (s *session) note(f frame.Frame) error {
	if f.Kind == wire.FrontendPassword && !s.conversation.Started() {
		if err := s.checkBinding(f.Body); err != nil {
			return err
		}
	}
	if s.conversation.MustWait(f.Kind) {
		if err := s.flush(); err != nil {
			return err
		}
		s.conversation.AwaitCopy()
	}
	before, err := s.conversation.Forwards(f.Kind, f.Body, f.Whole)
	switch {
	case err != nil:
		return clientError{failDesync, err}
	case len(before) == 0:
		return nil
	}
	err = s.flush()
	s.before = before
	return err
}

// streamMessage forwards a message that is larger than the buffer.
func (s *session) streamMessage() error {
	in := s.fromClient
	if f, err := in.Next(); err == nil && f.Kind == wire.FrontendPassword && f.Size > frame.HeaderSize+maxPassword &&
		!s.conversation.Started() {
		return s.malformed(frame.LengthError{Kind: f.Kind, Length: uint32(f.Size - 1), Limit: maxPassword})
	}
	if err := s.forwardHeld(); err != nil {
		return err
	}
	// The names are at the front of a message; wait until they are there.
	refused, gone := in.Each(func() error {
		if err := s.flush(); err != nil {
			return err
		}
		if f, err := in.Next(); err != nil || f.Whole || len(f.Body) >= headBytes {
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
	if err := s.note(f); err != nil {
		return err
	}
	if err := s.flush(); err != nil {
		return err
	}
	return in.Stream(s.upstream, f.Size)
}

// countUnpermitted counts the statements that were forwarded since its last call because of Permission. It does not
// count those of a database that is not listed: nobody expects answers there.
func (s *session) countUnpermitted() {
	n := s.conversation.TakeUnpermitted()
	if n > 0 && s.permission != nil {
		s.proxy.counters.declined[DeclineNotAnswerable].Add(int64(n))
	}
}
