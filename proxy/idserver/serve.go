package idserver

import (
	"errors"
	"log/slog"
	"net"
	"time"

	"pgflurry/internal/fault"
	"pgflurry/proxy/internal/frame"
	"pgflurry/proxy/internal/frontend"
	"pgflurry/proxy/internal/wire"
)

// Serve logs a client in and serves it until its end; then the caller closes conn. conn is the client's connection, or
// TLS on top of it (pgtls.Conn). wanted is its StartupMessage. The client has to log in before login. Serve
// calls loggedIn when the client has proved who it is.
func (v *Server) Serve(conn net.Conn, wanted *wire.Startup, login time.Time, loggedIn func() bool, log *slog.Logger) {
	if s := newSession(conn, &v.conditions, &v.source, v.buffers, log); v.logIn(s, wanted, login, loggedIn) {
		v.live(s)
	}
}

// logIn enters the session and logs its client in. It says whether the session goes on.
func (v *Server) logIn(s *session, wanted *wire.Startup, login time.Time, loggedIn func() bool) (on bool) {
	defer func() {
		if !on {
			v.leave(s)
		}
	}()
	began := v.now()
	_ = s.conn.SetDeadline(login) // before Enter: a drain may shorten it
	err := error(fault.NotAccepting)
	var unsent []byte
	if v.register.Enter(s) {
		l := v.newLogin(s)
		err = frontend.Apart(s.log, fault.Internal, func() error { return v.admit(s, l, wanted, loggedIn) })
		unsent = l.out
	}
	v.countLogin(err)
	if err != nil {
		s.farewell(unsent, err)
		s.logRefusal(err)
		return false
	}
	v.loginTimes.Observe(v.now().Sub(began))
	s.log.Debug("session begins")
	return true
}

// live serves a client that has logged in. An idle session keeps its stack frame (proxy.connection).
func (v *Server) live(s *session) {
	defer v.leave(s)
	err := s.conn.SetDeadline(time.Time{})
	if err == nil { // run sees a drain that has begun before
		err = frontend.Safely(s.log, fault.Internal, s.run)
	}
	s.ended(err)
}

// leave ends a session: its slot and its key are free afterwards.
func (v *Server) leave(s *session) {
	defer s.cancel()
	if s.hasSlot.Load() {
		v.slots.release(s.user)
	}
	v.register.Leave(s)
}

// farewell tells the client why its session ends, if there is anything to say. It first writes what was not yet sent.
func (s *session) farewell(unsent []byte, err error) {
	p, ok := errorOf(err)
	if !ok {
		return
	}
	s.Because(reasonOf(p))
	s.ToClient.Farewell(wire.AppendError(unsent, "FATAL", p))
}

// reasonOf is why a session with this error ends.
func reasonOf(p fault.Error) frontend.Reason {
	switch p {
	case fault.Draining, fault.NotAccepting:
		return frontend.ClosedDrain
	case errIdle:
		return frontend.ClosedIdle
	case fault.Internal:
		return frontend.ClosedFault
	}
	return frontend.ClosedProtocol
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

// ended says why a session ends: to the client if it can hear it, and in the log.
func (s *session) ended(err error) {
	s.farewell(nil, err)
	why := s.Closed()
	switch {
	case why == frontend.ClosedProtocol:
		s.log.Warn("session ended by the proxy", "cause", err)
	case why == frontend.ClosedIdle && errors.As(err, new(frame.WriteError)):
		s.log.Info("session ended: its client reads nothing", "cause", err)
	}
	s.log.Debug("session ended", "cause", err, "reason", why.String(), "ids", s.counts.IDs.Load(),
		"numbers", s.counts.Numbers.Load())
}
