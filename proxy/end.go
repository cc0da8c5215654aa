package proxy

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"pgflurry/proxy/internal/admission"
	"pgflurry/proxy/internal/conversation"
	"pgflurry/proxy/internal/frame"
	"pgflurry/proxy/internal/frontend"
	"pgflurry/proxy/internal/wire"
)

// pair has both connections of a session, and how they end. Whichever side ends first, the other gets all messages that
// can still reach it, and nothing is left waiting.
type pair struct {
	client   net.Conn      // client ↔ proxy
	upstream *upstreamConn // proxy ↔ upstream
	toClient *frame.Writer
	// conversation is what both sides have said; both goroutines use it.
	conversation *conversation.Conversation
	binding      binding
	log          *slog.Logger
	connection   *admission.Connection
	cancel       context.CancelFunc // of what the client's goroutine waits for
	lost         func()             // upstream has ended the session
	counts       frontend.Counts    // statements that did not wait
	frontend.Ending
	leaving atomic.Bool // the client has left or is being sent away, so upstream's end needs no report
}

var (
	noDeadline = time.Time{}
	longAgo    = time.Unix(1, 0)
)

// errTerminated means that the client sent Terminate.
var errTerminated = errors.New("session terminated")

// Closed is why the session ended. If nobody called Because, the client's connection was lost.
func (e *pair) Closed() frontend.Reason {
	switch {
	case e.Why() != frontend.StillOpen:
		return e.Why()
	case e.connection.GaveWay():
		return frontend.ClosedLimit
	}
	return frontend.ClosedClient
}

// AddTo adds the session's counters.
func (e *pair) AddTo(x *frontend.Sums) {
	x.Opened++
	x.Add(&e.counts)
	x.ToUpstream += e.upstream.written.Load()
	x.ToClient += e.toClient.Written()
}

// upstreamLost reports that upstream has ended a session that had logged in.
func (e *pair) upstreamLost() {
	if e.conversation.Started() && !e.leaving.Load() {
		e.lost()
	}
}

// clientLost says that a write to the client failed. That ends a session, whichever goroutine wrote.
func clientLost(err error) bool {
	return errors.As(err, new(frame.WriteError)) || errors.Is(err, frame.ErrTorn)
}

// lostClient logs once that the client's connection was lost. The client can be told nothing any more.
func (e *pair) lostClient(err error) {
	e.Because(frontend.ClosedClient)
	if !e.leaving.Swap(true) {
		e.log.Info("session ended: the client's connection was lost", "cause", err)
	}
}

// deafTime is how long a client may take nothing of what is left for it once upstream has ended. A client that takes
// nothing for that long loses it, after twice that time at most.
const deafTime = 5 * time.Second

// inVain says whether upstream has ended while the client takes nothing. Then nobody needs the write that waits for the
// client. It keeps the goroutine that reads upstream from the end, and perhaps from words before it.
func (e *pair) inVain() bool {
	if !frame.Ended(e.upstream.Conn) {
		return false
	}
	e.Because(frontend.ClosedUpstream)
	e.upstreamLost()
	if !e.leaving.Swap(true) {
		e.log.Info("session ended: upstream has ended it, and the client reads nothing of what is left")
	}
	return true
}

// upstreamGone distinguishes an upstream that was lost from one that refuses TLS.
func (e *pair) upstreamGone(err error) clientError {
	if !e.conversation.Started() && e.upstream.refusesTLS(err) {
		return clientError{failUpstreamTLS, err}
	}
	return clientError{failUpstreamLost, err}
}

// clientEnded ends the upstream connection in the way in which the client ended its own.
func (e *pair) clientEnded(err error) {
	var own clientError
	switch {
	case errors.As(err, new(upstreamError)):
		return // upstream's last messages, if any, are still on their way to the client
	case clientLost(err):
		e.lostClient(err)
	case errors.Is(err, io.EOF), errors.Is(err, errTerminated):
		// Upstream still executes what was sent before, and its replies go to the client while that listens.
		e.Because(frontend.ClosedClient)
		e.leaving.Store(true)
		if half, ok := e.upstream.Conn.(interface{ CloseWrite() error }); ok &&
			half.CloseWrite() == nil {
			return
		}
	case errors.As(err, &own):
		e.Because(own.reason)
		if own.failure != failDraining {
			e.log.Warn("session ended by the proxy", "cause", own)
		}
		e.leaving.Store(true)
		e.farewell(own.failure)
		if own.failure == failDraining {
			_, _ = e.upstream.Write(wire.Terminate)
		}
	}
	e.leaving.Store(true)
	e.cancel()
	// Close waits for relayUpstream, which may be writing.
	_ = e.client.SetWriteDeadline(time.Now().Add(frame.FarewellTime))
	e.upstream.Close()
}

// farewell tells the client why its session ends. A client that does not read, or an upstream that stalls in the middle
// of a message, delays it by at most frame.FarewellTime. After that both connections are closed without a word.
func (e *pair) farewell(f failure) {
	late := time.AfterFunc(frame.FarewellTime, func() {
		e.closeBoth()
	})
	defer late.Stop()
	e.toClient.Farewell(fatalMessage(f))
}

// endsWithPrimary ends the session when its host is not the primary any more. callOff cancels that.
func (e *pair) endsWithPrimary() (callOff func() bool) {
	return context.AfterFunc(e.upstream.over, e.demoted)
}

// demoted ends a session whose host is no longer the primary. Writes to that host might be lost, so it stops them
// before it tells the client, which can take a while. A client that has not logged in has lost nothing, and is asked to
// try again.
func (e *pair) demoted() {
	_ = e.upstream.SetWriteDeadline(longAgo)
	e.log.Info("session ended: its server is not the primary any more")
	if e.conversation.Started() {
		e.kill(failDemoted)
	} else {
		e.kill(failMoved)
	}
}

// kill ends the session at once.
func (e *pair) kill(f failure) {
	e.Because(f.reason)
	e.leaving.Store(true)
	e.farewell(f)
	e.closeBoth()
}

// closeBoth ends both relays. Close waits for the goroutine that reads the connection (frame.Inbox), and that one may
// be writing to the other side. Writes of relayUpstream have a deadline by now (farewell). When relayUpstream has
// ended, relayClient waits for nothing.
func (e *pair) closeBoth() {
	e.upstream.Close()
	e.client.Close()
}

// Kill ends the session because a drain's time is over.
func (e *pair) Kill() { e.kill(failDraining) }

// Interrupt makes relayClient check whether the session should end.
func (e *pair) Interrupt() { _ = e.client.SetReadDeadline(longAgo) }

// loginLate ends a session whose first ReadyForQuery has not come in time.
func (e *pair) loginLate() {
	if !e.conversation.Started() {
		e.log.Warn("session ended by the proxy", "cause", failLogin.sent.Message)
		e.kill(failLogin)
	}
}

// loginEnded ends a session whose login failed before upstream decided about it.
func (e *pair) loginEnded(err error) {
	if errors.As(err, new(upstreamError)) || errors.As(err, new(upstreamReadError)) {
		err = e.upstreamGone(err)
	}
	var own clientError
	if errors.As(err, &own) {
		e.Because(own.reason)
	}
	if errors.As(err, &own) && !e.leaving.Swap(true) { // else the session was killed, and the client knows why
		e.log.Warn("session ended by the proxy", "cause", own)
		e.farewell(own.failure)
	}
	e.upstream.Close()
	e.client.Close()
}
