package proxy

import (
	"errors"
	"io"
	"time"

	"pgflurry/proxy/conversation"
	"pgflurry/proxy/frame"
	"pgflurry/proxy/wire"
)

// relayUpstream relays everything from upstream until upstream closes, and notes which replies have come.
func (s *session) relayUpstream() error {
	for {
		refused, gone := s.fromUpstream.Each(s.takeReplies)
		switch {
		case refused == frame.ErrLarge:
			refused = s.streamReply()
		case gone != nil:
			refused = gone
		case isOldError(refused, s.toClient, s.fromUpstream):
			refused = s.relayOldError()
		}
		if refused != nil {
			return refused
		}
	}
}

// isOldError says whether upstream's first message cannot be read because it is an error of protocol 2: an E, a text,
// and the end. The postmaster sends one if it cannot start a process for the session.
func isOldError(err error, toClient *frame.Writer, fromUpstream *frame.Inbox) bool {
	length := frame.LengthError{}
	return errors.As(err, &length) && length.Kind == wire.BackendErrorResponse && heardNothing(toClient, fromUpstream)
}

// heardNothing says that upstream has said nothing yet that could be read.
func heardNothing(toClient *frame.Writer, fromUpstream *frame.Inbox) bool {
	return toClient.Written() == 0 && len(fromUpstream.Committed()) == 0
}

// relayOldError relays whatever upstream says until it closes.
func (s *session) relayOldError() error {
	s.sawFatal = true
	s.because(closedRefused)
	s.log.Info("login refused by PostgreSQL: it could not start a process for the session")
	refused, gone := s.fromUpstream.Each(func() error {
		s.fromUpstream.PassAll()
		return s.flushReplies()
	})
	return errors.Join(refused, gone)
}

// takeReplies relays the messages that are in the buffer. A run of whole messages is one write. An incomplete message
// never delays those before it.
func (s *session) takeReplies() error {
	in := s.fromUpstream
	for {
		f, err := in.Next()
		switch {
		case err != nil:
			return err
		case f.Large:
			return frame.ErrLarge
		case !f.Whole:
			return s.flushReplies()
		}
		relay, err := s.takeReply(f)
		switch {
		case err != nil:
			return err
		case relay:
			in.Pass(f.Size)
			continue
		}
		if err := s.flushReplies(); err != nil {
			return err
		}
		in.Drop(f.Size)
	}
}

// takeReply says whether to relay a message.
func (s *session) takeReply(f frame.Frame) (relay bool, err error) {
	switch f.Kind {
	case wire.BackendAuthentication:
		return s.relayAuthentication(f.Body)
	case wire.BackendKeyData:
		s.rememberKey(f.Body)
	case wire.BackendErrorResponse:
		if s.sawFatal = isFatal(f.Body); s.sawFatal {
			s.upstreamFatal(f.Body)
		}
	}
	relay, err = s.conversation.TakeReply(f.Kind, f.Body)
	if err != nil {
		err = clientError{failDesync, err}
	}
	if !s.ready && s.conversation.Started() {
		s.ready = true
		s.proxy.counters.count(loginOK)
		s.proxy.counters.loginTimes.Observe(time.Since(s.proxy.made) - s.admitted.since)
	}
	return relay, err
}

// streamReply relays a message that is larger than the buffer.
func (s *session) streamReply() error {
	f, err := s.fromUpstream.Next()
	if err != nil {
		return err
	}
	relay, err := s.takeReply(f)
	switch {
	case err != nil:
		return err
	case !relay: // no reply to the proxy's own messages is larger than a buffer
		return clientError{failDesync, conversation.ErrTorn}
	}
	return s.tell(func(w io.Writer) error { return s.fromUpstream.Stream(w, f.Size) })
}

// flushReplies writes the run to the client. It counts the replies as relayed while it holds the writer. So when a
// client has its ReadyForQuery, nothing is owed any more, and no local reply can overtake these bytes.
func (s *session) flushReplies() error {
	in := s.fromUpstream
	if len(in.Committed()) == 0 && !s.conversation.Unrelayed() {
		return nil
	}
	return s.tell(func(w io.Writer) error {
		s.conversation.Relayed()
		return in.Flush(w)
	})
}

// tell writes to the client. While the proxy drains, it makes relayClient check again: that may have found the writer
// busy, or replies owed.
func (s *session) tell(f func(io.Writer) error) error {
	err := s.toClient.Do(f)
	if s.proxy.registry.draining.Load() {
		s.interrupt()
	}
	return err
}
