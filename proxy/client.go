package proxy

import (
	"errors"

	"pgflurry/proxy/internal/conversation"
	"pgflurry/proxy/internal/frame"
	"pgflurry/proxy/internal/frontend"
	"pgflurry/proxy/internal/wire"
)

// headBytes is how much the proxy looks at of a message that is larger than the buffer: two names, and the byte before
// a name.
const headBytes = 2*(wire.NameBytes+1) + 1

// maxPassword is the largest body of a password message, in bytes. PostgreSQL has the same limit.
const maxPassword = 65535

// requests are what the client sends. They belong to the goroutine that reads the client.
type requests struct {
	*pair
	registry   *frontend.Registry[*pair]
	fromClient *frame.Inbox
	answers    answers
	before     prefix // not yet written to upstream; nil: nothing
}

// relayClient handles the client's messages until the client leaves.
func (r *requests) relayClient() error {
	r.fromClient.SetMax(frame.MaxBody)
	for {
		refused, gone := r.fromClient.Each(r.takeMessages)
		switch {
		case refused == frame.ErrLarge:
			refused = r.streamMessage()
		case gone != nil:
			refused = r.clientGone(gone)
		}
		if refused != nil {
			return refused
		}
	}
}

// takeMessages handles the messages that are in the buffer. When the buffer is drained, it writes all replies and
// forwarded messages at once. It never delays them for more input. Only messages that may yet be answered wait for
// their Sync.
func (r *requests) takeMessages() error {
	in := r.fromClient
	for {
		f, err := in.Next()
		switch {
		case err != nil:
			return r.malformed(err)
		case f.Large:
			return frame.ErrLarge
		case f.Whole:
			if err := r.takeMessage(f); err != nil {
				return err
			}
			continue
		}
		if err := r.flush(); err != nil {
			return err
		}
		if !in.Full() {
			return r.mayRead()
		}
		if err := r.forwardHeld(); err != nil { // a batch larger than the buffer goes to PostgreSQL
			return err
		}
	}
}

// malformed ends the session because a message cannot be read. It forwards what came before that message.
func (r *requests) malformed(cause error) error {
	if err := r.forwardHeld(); err != nil {
		return err
	}
	if err := r.flush(); err != nil {
		return err
	}
	return clientError{failProtocol, cause}
}

// mayRead runs before each read. While the proxy drains, a session that owes nothing ends here.
func (r *requests) mayRead() error {
	r.conversation.AwaitRoom()
	if r.registry.Draining.Load() && r.atRest() {
		return clientError{failure: failDraining}
	}
	return nil
}

// atRest says that the session can end without a loss: no transaction, nothing owed, nothing half sent in either
// direction.
func (r *requests) atRest() bool {
	return r.conversation.AtRest() && r.fromClient.Empty() && r.toClient.Idle()
}

// clientGone forwards all that the client sent before it left, half messages included. PostgreSQL decides about them.
func (r *requests) clientGone(cause error) error {
	if err := r.forwardHeld(); err != nil {
		return err
	}
	r.fromClient.PassAll()
	if err := r.flush(); err != nil {
		return err
	}
	return cause
}

// flush writes the local replies to the client, then what is committed to upstream. The order matters: a local reply
// comes before the replies to anything that is forwarded after it.
func (r *requests) flush() error {
	if err := r.answers.Flush(); err != nil {
		return err
	}
	return r.flushCommitted()
}

// flushCommitted writes what is committed to upstream. The proxy's own messages go in front of it, in the same write.
func (r *requests) flushCommitted() error {
	if len(r.before) == 0 {
		return r.fromClient.Flush(r.upstream)
	}
	defer func() { r.before = nil }()
	if err := r.fromClient.Flush(&r.before); err != nil {
		return err
	}
	_, err := r.upstream.Write(r.before)
	return err
}

// prefix holds the proxy's own messages that go to upstream before the client's next ones.
type prefix []byte

func (p *prefix) Write(b []byte) (int, error) {
	*p = append(*p, b...)
	return len(b), nil
}

// answer answers the batch that ends with this message. If it cannot, it returns false and has done nothing.
func (r *requests) answer(f frame.Frame) (done bool, err error) {
	in := r.fromClient
	done, err = r.answers.answer(r.conversation, f.Kind == wire.FrontendQuery, in.Held())
	if !done || err != nil {
		return done, err
	}
	// The buffer may still have messages that upstream owes nothing for, such as stray CopyData.
	if err := r.flushCommitted(); err != nil {
		return false, err
	}
	in.Drop(f.Size)
	return true, nil
}

// takeMessage answers, holds or forwards one message.
func (r *requests) takeMessage(f frame.Frame) error {
	in, c := r.fromClient, r.conversation
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
		if done, err := r.answer(f); done || err != nil {
			return err
		}
	}
	if err := r.forwardHeld(); err != nil {
		return err
	}
	return r.forward(f)
}

// forwardHeld forwards the held messages.
func (r *requests) forwardHeld() error {
	in, c := r.fromClient, r.conversation
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
		if err := r.forward(f); err != nil {
			return err
		}
		left -= f.Size
	}
	return nil
}

// forward forwards one whole message.
func (r *requests) forward(f frame.Frame) error {
	if err := r.note(f); err != nil {
		return err
	}
	r.countUnpermitted()
	r.fromClient.Pass(f.Size)
	if f.Kind == wire.FrontendTerminate {
		r.leaving.Store(true) // before upstream can react
		return errors.Join(r.flush(), errTerminated)
	}
	return nil
}

// note tells the conversation about a message that is about to be forwarded. It keeps the messages that must go to
// upstream first in r.before.
func (r *requests) note(f frame.Frame) error {
	if f.Kind == wire.FrontendPassword && !r.conversation.Started() {
		if err := r.binding.check(f.Body); err != nil {
			return err
		}
		r.connection.Answered()
	}
	if r.conversation.MustWait(f.Kind) {
		if err := r.flush(); err != nil {
			return err
		}
		r.conversation.AwaitCopy()
	}
	before, err := r.conversation.Forwards(f.Kind, f.Body, f.Whole)
	switch {
	case err != nil:
		return clientError{failDesync, err}
	case len(before) == 0:
		return nil
	}
	err = r.flush()
	r.before = before
	return err
}

// streamMessage forwards a message that is larger than the buffer.
func (r *requests) streamMessage() error {
	in := r.fromClient
	if f, err := in.Next(); err == nil && f.Kind == wire.FrontendPassword && f.Size > frame.HeaderSize+maxPassword &&
		!r.conversation.Started() {
		return r.malformed(frame.LengthError{Kind: f.Kind, Length: uint32(f.Size - 1), Limit: maxPassword})
	}
	if err := r.forwardHeld(); err != nil {
		return err
	}
	// The names are at the front of a message; wait until they are there.
	refused, gone := in.Each(func() error {
		if err := r.flush(); err != nil {
			return err
		}
		if f, err := in.Next(); err != nil || f.Whole || len(f.Body) >= headBytes {
			return frame.ErrLarge
		}
		return r.mayRead()
	})
	switch {
	case gone != nil:
		return r.clientGone(gone)
	case refused != frame.ErrLarge:
		return refused
	}
	f, err := in.Next()
	if err != nil {
		return err
	}
	if err := r.note(f); err != nil {
		return err
	}
	if err := r.flush(); err != nil {
		return err
	}
	return in.Stream(r.upstream, f.Size)
}

// countUnpermitted counts the statements that were forwarded since its last call because of Permission. It does not
// count those of a database that is not listed: nobody expects answers there.
func (r *requests) countUnpermitted() {
	n := r.conversation.TakeUnpermitted()
	if n > 0 && r.answers.permission != nil {
		r.answers.declined(DeclineNotAnswerable, n)
	}
}
