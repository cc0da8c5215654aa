package proxy

import (
	"errors"
	"fmt"

	"pgflurry/proxy/frame"
	"pgflurry/proxy/wire"
)

// headBytes is how much of a message is looked at that is larger than the buffer:
// two names, and the byte before a name.
const headBytes = 2*(wire.NameBytes+1) + 1

// errTerminated: the client said goodbye.
var errTerminated = errors.New("session terminated")

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

// takeMessages takes the messages that are there. Replies and forwarded messages are written once per drained read
// buffer, and never held back for more input; only what may yet be answered waits for its Sync.
func (s *session) takeMessages() error {
	in := s.fromClient
	for {
		if s.conversation.started.Load() {
			in.SetMax(frame.MaxBody)
		}
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
		if err := s.forwardHeld(); err != nil { // a batch larger than the buffer is PostgreSQL's
			return err
		}
	}
}

// malformed ends the session after passing on what came before the message that cannot be read.
func (s *session) malformed(cause error) error {
	if err := s.forwardHeld(); err != nil {
		return err
	}
	if err := s.flush(); err != nil {
		return err
	}
	return clientError{failProtocol, cause}
}

// mayRead comes before each read. While draining it is also where a session that owes nothing ends.
func (s *session) mayRead() error {
	s.conversation.awaitRoom()
	if s.proxy.draining.Load() && s.atRest() {
		return clientError{code: failDraining}
	}
	return nil
}

// clientGone passes on what the client sent before it left: that is PostgreSQL's to judge, half messages included.
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

// flush writes the local replies to the client, then what is committed to upstream. In this order: a local reply
// belongs before the replies to anything forwarded after it.
func (s *session) flush() error {
	if err := s.flushAnswers(); err != nil {
		return err
	}
	return s.flushCommitted()
}

// flushCommitted writes what is committed to upstream, behind what the proxy itself has to say: in one write.
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

// front is what goes to upstream in front of the client's next messages.
type front []byte

func (f *front) Write(b []byte) (int, error) {
	*f = append(*f, b...)
	return len(b), nil
}

func (s *session) flushAnswers() error {
	if len(s.out) == 0 {
		return nil
	}
	if err := s.toClient.Write(s.out); err != nil {
		return err
	}
	s.proxy.buffers.PutReplies(s.out)
	s.out = nil
	return nil
}

// takeMessage answers, holds or forwards one message.
func (s *session) takeMessage(f frame.Frame) error {
	in, c := s.fromClient, s.conversation
	if f.Kind == wire.FrontendCopyData && !c.holds() {
		in.Pass(f.Size)
		return nil
	}
	switch c.hear(f.Kind, f.Body, f.Size) {
	case hold:
		in.Hold(f.Size)
		if f.Kind == wire.FrontendExecute {
			in.Hold(c.repeats(in.Held(), in.Unread()))
		}
		return nil
	case answer:
		if done, err := s.answer(f); done || err != nil {
			return err
		}
	}
	if err := s.forwardHeld(); err != nil {
		return err
	}
	return s.forward(f)
}

// forwardHeld gives up holding: what is held is forwarded.
func (s *session) forwardHeld() error {
	in, c := s.fromClient, s.conversation
	if !c.holds() {
		return nil
	}
	left := len(in.Held())
	c.release()
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

// forward passes on one whole message.
func (s *session) forward(f frame.Frame) error {
	if err := s.note(f); err != nil {
		return err
	}
	if s.conversation.unpermitted > 0 {
		s.countUnpermitted()
	}
	s.fromClient.Pass(f.Size)
	if f.Kind == wire.FrontendTerminate {
		s.leaving.Store(true) // before upstream can react
		return errors.Join(s.flush(), errTerminated)
	}
	return nil
}

// note enters a message that is about to be forwarded in the conversation, and what must come before it.
func (s *session) note(f frame.Frame) error {
	if f.Kind == wire.FrontendPassword && !s.conversation.started.Load() {
		if err := s.checkBinding(f.Body); err != nil {
			return err
		}
	}
	before, err := s.conversation.forwards(f.Kind, f.Body, f.Whole)
	switch {
	case errors.Is(err, errUnnamed):
		return clientError{failDesync, err}
	case err != nil:
		return clientError{failProtocol, fmt.Errorf("%w: %q", err, f.Kind)}
	case len(before) == 0:
		return nil
	}
	err = s.flush()
	s.before = before
	return err
}

// streamMessage passes on a message that is larger than the buffer.
func (s *session) streamMessage() error {
	in := s.fromClient
	if err := s.forwardHeld(); err != nil {
		return err
	}
	// Names stand at the front of a message; wait until they are there.
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
