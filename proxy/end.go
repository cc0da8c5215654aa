package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"pgflurry/proxy/frame"
	"pgflurry/proxy/pgtls"
	"pgflurry/proxy/wire"
)

// How a session ends. Whichever side ends first, the other gets all messages that can still reach it, and nothing is
// left waiting.

// upstreamEnded tells the client why upstream is gone, unless upstream said so itself or the client left first.
func (s *session) upstreamEnded(err error) {
	if s.leaving.Load() {
		return
	}
	if clientLost(err) {
		s.lostClient(err)
		return
	}
	var own clientError
	switch {
	case errors.As(err, &own):
	case errors.As(err, new(frame.LengthError)) && heardNothing(s.toClient, s.fromUpstream):
		own = clientError{failDial, err} // what answers there is no PostgreSQL
	case errors.As(err, new(frame.LengthError)):
		own = clientError{failDesync, err}
	case s.sawFatal:
		return
	default:
		own = s.upstreamGone(err)
		s.upstreamLost()
	}
	s.because(own.code.reason())
	s.log.Warn("session lost", "cause", own)
	s.farewell(own.code)
}

// upstreamLost reports that upstream has ended a session that had logged in.
func (s *session) upstreamLost() {
	if s.conversation.Started() && !s.leaving.Load() {
		s.proxy.lost()
	}
}

// clientLost says that a write to the client failed. That ends a session, whichever goroutine wrote.
func clientLost(err error) bool {
	return errors.As(err, new(frame.WriteError)) || errors.Is(err, frame.ErrTorn)
}

// lostClient logs once that the client's connection was lost. The client can be told nothing any more.
func (s *session) lostClient(err error) {
	s.because(closedClient)
	if !s.leaving.Swap(true) {
		s.log.Info("session ended: the client's connection was lost", "cause", err)
	}
}

// deafTime is how long a client may take nothing of what is left for it once upstream has ended. A client that takes
// nothing for that long loses it, after twice that time at most.
const deafTime = 5 * time.Second

// inVain says whether upstream has ended while the client takes nothing. Then nobody needs the write that waits for the
// client. It keeps the goroutine that reads upstream from the end, and perhaps from words before it.
func (s *session) inVain() bool {
	if !frame.Ended(s.upstream.Conn) {
		return false
	}
	s.because(closedUpstream)
	s.upstreamLost()
	if !s.leaving.Swap(true) {
		s.log.Info("session ended: upstream has ended it, and the client reads nothing of what is left")
	}
	return true
}

// upstreamGone distinguishes an upstream that was lost from one that refuses TLS.
func (s *session) upstreamGone(err error) clientError {
	if s.refusesTLS(err) {
		return clientError{failUpstreamTLS, err}
	}
	return clientError{failUpstreamLost, err}
}

// refusesTLS says whether upstream refused the proxy's certificate. In TLS 1.3 a server does so after the handshake and
// then closes its socket. That close may overtake the alert that says why.
func (s *session) refusesTLS(err error) bool {
	failed := new(net.OpError)
	if s.conversation.Started() || !errors.As(err, &failed) {
		return false
	}
	_, inside := s.upstream.Conn.(pgtls.Conn)
	reset := errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	return failed.Op == "remote error" || inside && reset
}

// clientEnded ends the upstream connection in the way in which the client ended its own.
func (s *session) clientEnded(err error) {
	var own clientError
	switch {
	case errors.As(err, new(upstreamError)):
		return // upstream's last messages, if any, are still on their way to the client
	case clientLost(err):
		s.lostClient(err)
	case errors.Is(err, io.EOF), errors.Is(err, errTerminated):
		// Upstream still executes what was sent before, and its replies go to the client while that listens.
		s.because(closedClient)
		s.leaving.Store(true)
		if half, ok := s.upstream.Conn.(interface{ CloseWrite() error }); ok &&
			half.CloseWrite() == nil {
			return
		}
	case errors.As(err, &own):
		s.because(own.code.reason())
		if own.code != failDraining {
			s.log.Warn("session ended by the proxy", "cause", own)
		}
		s.leaving.Store(true)
		s.farewell(own.code)
		if own.code == failDraining {
			_, _ = s.upstream.Write(wire.Terminate)
		}
	}
	s.leaving.Store(true)
	s.cancel()
	// Close waits for relayUpstream, which may be writing.
	_ = s.client.SetWriteDeadline(time.Now().Add(frame.FarewellTime))
	s.upstream.Close()
}

// farewell tells the client why its session ends. A client that does not read, or an upstream that stalls in the middle
// of a message, delays it by at most frame.FarewellTime. After that both connections are closed without a word.
func (s *session) farewell(code failure) {
	late := time.AfterFunc(frame.FarewellTime, func() {
		s.closeBoth()
	})
	defer late.Stop()
	s.toClient.Farewell(fatalMessage(code))
}

// endsWithPrimary ends the session when its host is not the primary any more. callOff cancels that.
func (s *session) endsWithPrimary() (callOff func() bool) {
	return context.AfterFunc(s.over, s.demoted)
}

// demoted ends a session whose host is no longer the primary. Writes to that host might be lost, so it stops them
// before it tells the client, which can take a while. A client that has not logged in has lost nothing, and is asked to
// try again.
func (s *session) demoted() {
	_ = s.upstream.SetWriteDeadline(longAgo)
	s.log.Info("session ended: its server is not the primary any more")
	if s.conversation.Started() {
		s.kill(failDemoted)
	} else {
		s.kill(failMoved)
	}
}

// kill ends the session at once.
func (s *session) kill(code failure) {
	s.because(code.reason())
	s.leaving.Store(true)
	s.farewell(code)
	s.closeBoth()
}

// closeBoth ends both relays. Close waits for the goroutine that reads the connection (frame.Inbox), and that one may
// be writing to the other side. Writes of relayUpstream have a deadline by now (farewell). When relayUpstream has
// ended, relayClient waits for nothing.
func (s *session) closeBoth() {
	s.upstream.Close()
	s.client.Close()
}

// interrupt makes relayClient check whether the session should end.
func (s *session) interrupt() { _ = s.client.SetReadDeadline(longAgo) }

// atRest says that the session can end without a loss: no transaction, nothing owed, nothing half sent in either
// direction.
func (s *session) atRest() bool {
	return s.conversation.AtRest() && s.fromClient.Empty() && s.toClient.Idle()
}

// loginLate ends a session whose first ReadyForQuery has not come in time.
func (s *session) loginLate() {
	if !s.conversation.Started() {
		s.log.Warn("session ended by the proxy", "cause", clientTexts[failLogin].message)
		s.kill(failLogin)
	}
}

// isProbe recognises a client that connected and left without a byte, as health checks do.
func isProbe(err error) bool {
	return !errors.As(err, new(tornPacket)) && !errors.As(err, new(pgtls.HandshakeError)) &&
		(errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET))
}

// loginEnded ends a session whose login failed before upstream decided about it.
func (s *session) loginEnded(err error) {
	if errors.As(err, new(upstreamError)) || errors.As(err, new(upstreamReadError)) {
		err = s.upstreamGone(err)
	}
	var own clientError
	if errors.As(err, &own) {
		s.because(own.code.reason())
	}
	if errors.As(err, &own) && !s.leaving.Swap(true) { // else the session was killed, and the client knows why
		s.log.Warn("session ended by the proxy", "cause", own)
		s.farewell(own.code)
	}
	s.upstream.Close()
	s.client.Close()
}
