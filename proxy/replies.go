package proxy

import (
	"errors"
	"io"
	"time"

	"pgflurry/proxy/internal/conversation"
	"pgflurry/proxy/internal/frame"
	"pgflurry/proxy/internal/frontend"
	"pgflurry/proxy/internal/wire"
)

// replies are what upstream sends. They belong to the goroutine that reads upstream.
type replies struct {
	*pair
	registry     *frontend.Registry[*pair]
	counters     *counters
	since        time.Duration // when the client's connection was accepted, from the proxy's start
	fromUpstream *frame.Inbox
	sawFatal     bool // upstream has told the client why it ends
	ready        bool // the first ReadyForQuery came
}

// relayUpstream relays everything from upstream until upstream closes, and notes which replies have come.
func (r *replies) relayUpstream() error {
	for {
		refused, gone := r.fromUpstream.Each(r.takeReplies)
		switch {
		case refused == frame.ErrLarge:
			refused = r.streamReply()
		case gone != nil:
			refused = gone
		case isOldError(refused, r.toClient, r.fromUpstream):
			refused = r.relayOldError()
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
func (r *replies) relayOldError() error {
	r.sawFatal = true
	r.Because(frontend.ClosedRefused)
	r.log.Info("login refused by PostgreSQL: it could not start a process for the session")
	refused, gone := r.fromUpstream.Each(func() error {
		r.fromUpstream.PassAll()
		return r.flushReplies()
	})
	return errors.Join(refused, gone)
}

// takeReplies relays the messages that are in the buffer. A run of whole messages is one write. An incomplete message
// never delays those before it.
func (r *replies) takeReplies() error {
	in := r.fromUpstream
	for {
		f, err := in.Next()
		switch {
		case err != nil:
			return err
		case f.Large:
			return frame.ErrLarge
		case !f.Whole:
			return r.flushReplies()
		}
		relay, err := r.takeReply(f)
		switch {
		case err != nil:
			return err
		case relay:
			in.Pass(f.Size)
			continue
		}
		if err := r.flushReplies(); err != nil {
			return err
		}
		in.Drop(f.Size)
	}
}

// takeReply says whether to relay a message.
func (r *replies) takeReply(f frame.Frame) (relay bool, err error) {
	switch f.Kind {
	case wire.BackendAuthentication:
		return r.relayAuthentication(f.Body)
	case wire.BackendKeyData:
		r.rememberKey(f.Body)
	case wire.BackendErrorResponse:
		if r.sawFatal = isFatal(f.Body); r.sawFatal {
			r.upstreamFatal(f.Body)
		}
	}
	relay, err = r.conversation.TakeReply(f.Kind, f.Body)
	if err != nil {
		err = clientError{failDesync, err}
	}
	if !r.ready && r.conversation.Started() {
		r.ready = true
		r.counters.loggedIn(r.since)
	}
	return relay, err
}

// relayAuthentication relays an authentication request, without PLUS where binding cannot work.
func (r *replies) relayAuthentication(body []byte) (relay bool, err error) {
	kind, mechanisms := authRequest(body)
	switch kind {
	case wire.AuthDone:
		if !r.connection.LoggedIn() {
			return false, clientError{failure: failTooManyLogins}
		}
	case wire.AuthSASLFinal: // the client has nothing to answer
	default:
		r.connection.Asked()
	}
	if kind != wire.AuthSASL || r.conversation.Started() {
		return true, nil
	}
	offer, cut, err := r.binding.offer(mechanisms)
	switch {
	case err != nil:
		return false, err
	case !cut:
		return true, nil
	}
	if err := r.flushReplies(); err != nil {
		return false, err
	}
	return false, r.toClient.Write(authMessage(wire.AuthSASL, offer, []byte{0}))
}

// rememberKey remembers, before the first ReadyForQuery, the key with which a client can cancel the session's
// statements.
func (r *replies) rememberKey(key []byte) {
	if !r.ready && len(key) <= maxKey {
		r.registry.SetKey(r.pair, string(key))
	}
}

// streamReply relays a message that is larger than the buffer.
func (r *replies) streamReply() error {
	f, err := r.fromUpstream.Next()
	if err != nil {
		return err
	}
	relay, err := r.takeReply(f)
	switch {
	case err != nil:
		return err
	case !relay: // no reply to the proxy's own messages is larger than a buffer
		return clientError{failDesync, conversation.ErrTorn}
	}
	return r.write(func(w io.Writer) error { return r.fromUpstream.Stream(w, f.Size) })
}

// flushReplies writes the run to the client. It counts the replies as relayed while it holds the writer. So when a
// client has its ReadyForQuery, nothing is owed any more, and no local reply can overtake these bytes.
func (r *replies) flushReplies() error {
	in := r.fromUpstream
	if len(in.Committed()) == 0 && !r.conversation.Unrelayed() {
		return nil
	}
	return r.write(func(w io.Writer) error {
		r.conversation.Relayed()
		return in.Flush(w)
	})
}

// write writes to the client. While the proxy drains, it makes relayClient check again: that may have found the writer
// busy, or replies owed.
func (r *replies) write(f func(io.Writer) error) error {
	err := r.toClient.Do(f)
	if r.registry.Draining.Load() {
		r.Interrupt()
	}
	return err
}

// upstreamEnded tells the client why upstream is gone, unless upstream said so itself or the client left first.
func (r *replies) upstreamEnded(err error) {
	if r.leaving.Load() {
		return
	}
	if clientLost(err) {
		r.lostClient(err)
		return
	}
	var own clientError
	switch {
	case errors.As(err, &own):
	case errors.As(err, new(frame.LengthError)) && heardNothing(r.toClient, r.fromUpstream):
		own = clientError{failDial, err} // what answers there is no PostgreSQL
	case errors.As(err, new(frame.LengthError)):
		own = clientError{failDesync, err}
	case r.sawFatal:
		return
	default:
		own = r.upstreamGone(err)
		r.upstreamLost()
	}
	r.Because(own.reason)
	r.log.Warn("session lost", "cause", own)
	r.farewell(own.failure)
}
