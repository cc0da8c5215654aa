package idserver

import (
	"pgflurry/internal/fault"
	"pgflurry/proxy/internal/admission"
	"pgflurry/proxy/internal/wire"
)

// newLogin begins the login of a client.
func (v *Server) newLogin(s *session) *login {
	s.in.SetMax(maxLogin)
	return &login{
		conditions: &v.conditions, accounts: v.settings.Accounts, attempts: v.attempts, binder: &v.binder, now: v.now,
		conn: s.conn, in: s.in, to: s.ToClient, from: admission.Origin(s.conn.RemoteAddr()),
	}
}

// admit lets a client in, up to and including the first ReadyForQuery.
func (v *Server) admit(s *session, l *login, wanted *wire.Startup, loggedIn func() bool) error {
	if err := noReplication(wanted.Replication); err != nil {
		return err
	}
	l.out = appendNegotiation(nil, wanted)
	switch {
	case wanted.User == "":
		return fault.New("28000", "no PostgreSQL user name specified in startup packet", "")
	case !v.Has(wanted.Database):
		return fault.Errorf("3D000", "", `database "%s" does not exist`, wanted.Database)
	}
	s.user, s.log = wanted.User, s.log.With("user", wanted.User, "database", wanted.Database)
	known, err := l.account(wanted.User)
	if err != nil {
		return err
	}
	l.out = appendAuthentication(l.out, wire.AuthDone, nil)
	if v.draining.Load() {
		return refuseWith(loginLimit, fault.NotAccepting)
	}
	if err := v.slots.acquire(s.user, v.rules.Load().MaxSessions, known.Allows); err != nil {
		return refuseWith(loginLimit, err.(fault.Error))
	}
	s.hasSlot.Store(true)
	if !v.stillListed(s.user) {
		return refuseWith(loginRefused, errRemoved)
	}
	if !loggedIn() { // it has its slot, so a drain that waits for logins may begin
		return refuseWith(loginLimit, fault.TooManyLogins)
	}
	options, err := settings(wanted)
	if err != nil {
		return err
	}
	return v.greet(s, l, wanted.Version, options)
}

// stillListed is false if the account was removed since the login began. The client decides how long a login takes.
func (v *Server) stillListed(user string) bool {
	if v.rules.Load().Method == Trust {
		return true
	}
	list := v.settings.Accounts()
	if list == nil || list.Len() == 0 {
		return true
	}
	_, found := list.Find(user)
	return found
}

// greet sends everything that a client expects after its login.
func (v *Server) greet(s *session, l *login, version uint32, options []wire.Parameter) error {
	var secret []byte
	s.pid, secret = v.issueKey(s, version)
	if err := v.begin(s, options); err != nil {
		return err
	}
	out := append(v.buffers.GetReplies(), l.out...)
	defer func() { v.buffers.PutReplies(out) }()
	l.out = nil
	out = s.appendParameters(out, s.session.Parameters.Reported())
	out = wire.AppendReady(appendKey(out, s.pid, secret), wire.StatusIdle)
	s.since = v.now()
	s.status.Store(wire.StatusIdle) // from here on the others see the session
	return s.ToClient.Write(out)
}

// begin begins the state of a session, with the options of the startup packet in the order in which PostgreSQL applies
// them.
func (v *Server) begin(s *session, options []wire.Parameter) error {
	s.session.Begin(&v.database, s.user, s.pid, v.settings.Parameters())
	for _, o := range options {
		if err := s.session.Parameters.Begin(o.Name, o.Value); err != nil {
			return err
		}
	}
	return nil
}
