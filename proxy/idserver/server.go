package idserver

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"pgflurry/internal/account"
	"pgflurry/internal/draw"
	"pgflurry/internal/fault"
	"pgflurry/internal/report"

	"pgflurry/proxy/idserver/state"
	"pgflurry/proxy/internal/frame"
	"pgflurry/proxy/internal/frontend"
	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/scram"
)

// Settings configures a Server. Change replaces MaxSessions, IdleTimeout, MaxAge and Method while it runs.
type Settings struct {
	// Database is the name of the ID database. Required.
	Database string
	// IDs gives the IDs. Required.
	IDs *draw.Queue
	// Segments gives the numbers of business tags; nil: there are none here.
	Segments Segments
	// Unavailable turns an error of IDs or Segments into what the client reads: 57P03 if waiting helps. Required.
	Unavailable func(error) fault.Error
	// Parameters are the parameters that the real server last reported after a login: server_version and others that
	// drivers read. Required.
	Parameters func() map[string]string
	// Accounts are the accounts as last read; nil: they were never read. Each login calls it once. It may wait for the
	// first reading. Required, except for Trust.
	Accounts func() *account.List
	// Console has the tables of SHOW LEASE, SHOW WORKERS and so on, by the word after SHOW, in upper case. SHOW HELP
	// and SHOW SESSIONS are the Server's own.
	Console map[string]Topic
	// Rules may change later (Server.Change).
	Rules
	// Log gets the causes that clients do not see; discarded if nil.
	Log *slog.Logger
}

// Server serves one database to any number of clients. Its methods are safe for concurrent use.
type Server struct {
	conditions
	settings Settings // without the rules
	log      *slog.Logger
	buffers  *frame.Buffers
	source   source
	now      func() time.Time // the clock of attempts and accounts

	register   frontend.Registry[*session]
	slots      slots
	lastPID    atomic.Uint32
	attempts   *attempts
	binder     scram.Binder
	database   state.Database
	shown      *report.Recent[shown] // of SHOW SESSIONS
	logins     [results]atomic.Int64
	loginTimes *report.Histogram
}

// New checks the settings and returns a Server without sessions.
func New(s Settings) (*Server, error) {
	switch {
	case s.Database == "":
		return nil, errors.New("idserver settings have no Database; expected the name of the one that is served")
	case s.IDs == nil:
		return nil, errors.New("idserver settings have no IDs; expected a queue of draws")
	case s.Unavailable == nil || s.Parameters == nil:
		return nil, errors.New("idserver settings lack Unavailable or Parameters; both are required")
	}
	v := &Server{
		settings: s, log: s.Log, buffers: frame.NewBuffers(), source: source{s.IDs, s.Segments, s.Unavailable},
		now: time.Now, slots: slots{ofUser: make(map[string]int)},
		attempts: newAttempts(time.Now()), loginTimes: frontend.NewTimes(),
	}
	v.register.Begin()
	v.draining = &v.register.Draining
	v.lastPID.Store(rand.Uint32())
	v.shown = report.NewRecent(time.Second, v.show)
	v.database = state.Database{
		Name: s.Database, Console: newConsole(s.Console, v.sessionsTable),
		Now: func() int64 { return time.Now().UnixMicro() },
	}
	if v.log == nil {
		v.log = slog.New(slog.DiscardHandler)
	}
	if err := v.Change(s.Rules); err != nil {
		return nil, err
	}
	return v, nil
}

// Change replaces the rules. It ends no session.
func (v *Server) Change(r Rules) error {
	switch {
	case r.Method < SCRAM || r.Method > Trust:
		return fmt.Errorf("idserver settings have method %d; expected %d to %d", r.Method, SCRAM, Trust)
	case r.Method != Trust && v.settings.Accounts == nil:
		return errors.New("idserver settings have no Accounts; only trust does without them")
	}
	v.rules.Store(&r)
	return nil
}

// Has says whether this is the database that the Server serves.
func (v *Server) Has(database string) bool { return database == v.settings.Database }

// Cancels takes a CancelRequest as it came. It returns false if the key is of no session here. Otherwise it cancels
// what the session does; a session that waits for its client does nothing.
func (v *Server) Cancels(request []byte) bool {
	of, found := v.register.OfKey(string(request[min(wire.StartupHead, len(request)):]))
	if found {
		of.cancelWork()
	}
	return found
}
