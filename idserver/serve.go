package idserver

import (
	"errors"
	"log/slog"
	"net"
	"runtime/debug"
	"time"

	"pgflurry/fault"
	"pgflurry/proxy/frame"
	"pgflurry/proxy/wire"
)

// Serve logs a client in and serves it until its end; then the caller closes conn. conn is the client's connection, or
// TLS on top of it (pgtls.Conn). wanted is its StartupMessage. The client has to log in before login. Serve
// calls loggedIn when the client has proved who it is.
func (v *Server) Serve(conn net.Conn, wanted *wire.Startup, login time.Time, loggedIn func(), log *slog.Logger) {
	s := newSession(conn, &v.conditions, &v.source, v.buffers, log)
	defer s.cancel()
	began := v.now()
	_ = conn.SetDeadline(login) // before enter: a drain may shorten it
	defer v.leave(s)
	err := v.register.enter(s)
	var unsent []byte
	if err == nil {
		l := v.newLogin(s)
		err = s.apart(func() error { return v.admit(s, l, wanted, loggedIn) })
		unsent = l.out
	}
	v.countLogin(err)
	if err != nil {
		s.farewell(unsent, err)
		s.logRefusal(err)
		return
	}
	v.loginTimes.Observe(v.now().Sub(began))
	s.log.Debug("session begins")
	if err = conn.SetDeadline(time.Time{}); err == nil { // run sees a drain that has begun before
		err = s.safely(s.run)
	}
	s.farewell(nil, err)
	s.ended(err)
}

// leave ends a session: its place and its key are free afterwards.
func (v *Server) leave(s *session) {
	if s.pid != 0 {
		v.keys.free(s.pid)
	}
	v.register.leave(s)
}

// farewell tells the client why its session ends, if there is anything to say. It first writes what was not yet sent.
func (s *session) farewell(unsent []byte, err error) {
	p, ok := errorOf(err)
	if !ok {
		return
	}
	s.because(reasonOf(p))
	s.ToClient.Farewell(wire.AppendError(unsent, "FATAL", p))
}

// reasonOf is why a session with this error ends.
func reasonOf(p fault.Error) reason {
	switch p {
	case fault.Draining, fault.NotAccepting:
		return closedDrain
	case errIdle:
		return closedIdle
	case fault.Internal:
		return closedFault
	}
	return closedProtocol
}

// left says that the client left by itself, or that its connection was closed without a word.
func left(err error) bool {
	_, reads := errorOf(err)
	return !reads
}

// countLogin counts the outcome of a login.
func (v *Server) countLogin(err error) {
	var r refused
	how := loginRefused
	switch {
	case err == nil:
		how = loginOK
	case errors.As(err, &r):
		how = r.result
	case left(err) || err == fault.LoginTime:
		how = loginLeft
	}
	v.logins[how].Add(1)
}

// logRefusal logs why a login failed, with the cause that the client does not see. A client that leaves has decided so
// itself. psql, for example, leaves when it has no password yet.
func (s *session) logRefusal(err error) {
	var r refused
	switch {
	case errors.As(err, &r):
		s.log.Info("login refused", "cause", r.cause())
	case left(err):
		s.log.Debug("client left within its login", "cause", err)
	default:
		s.log.Info("login refused", "cause", err)
	}
}

// ended logs the end of a session.
func (s *session) ended(err error) {
	why := s.closedFor()
	switch {
	case why == closedProtocol:
		s.log.Warn("session ended by the proxy", "cause", err)
	case why == closedIdle && errors.As(err, new(frame.WriteError)):
		s.log.Info("session ended: its client reads nothing", "cause", err)
	}
	s.log.Debug("session ended", "cause", err, "reason", reasonLabels[why], "ids", s.counts.ids.Load(),
		"numbers", s.counts.numbers.Load())
}

// apart runs f on a stack of its own. A login needs a deep one, which the session would otherwise keep for its whole
// life.
func (s *session) apart(f func() error) (err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = s.safely(f)
	}()
	<-done
	return err
}

// safely keeps a panic in one session from ending the others.
func (s *session) safely(f func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			s.log.Error("a session failed; please report this", "fault", cause, "stack", string(debug.Stack()))
			err = fault.Internal
		}
	}()
	return f()
}
