package idserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"pgflurry/account"
	"pgflurry/histogram"
	"pgflurry/proxy/frame"
	"pgflurry/proxy/scram"
)

// IDs gives unique IDs from memory; the generator satisfies it. Both methods are called concurrently. An error means
// that none can be had for now.
type IDs interface {
	// TryNextN takes a run of up to n IDs, first … first+count-1. A count of 0 without an error means: none at this
	// very moment, soon again.
	TryNextN(n int) (first int64, count int, err error)
	// NextN does the same and waits for at least one.
	NextN(ctx context.Context, n int) (first int64, count int, err error)
}

// Segments gives dense numbers of business tags; segment.Source satisfies it. Both methods are called concurrently, and
// do not keep tag. n is at least 1.
type Segments interface {
	// TryNextN takes a run of up to n numbers of a tag, first … first+count-1. A count of 0 without an error means:
	// none at this very moment, soon again.
	TryNextN(tag []byte, n int) (first int64, count int, err error)
	// NextN does the same and waits for at least one.
	NextN(ctx context.Context, tag []byte, n int) (first int64, count int, err error)
}

// Method is how a client proves who it is. The words are those of pg_hba.conf.
type Method int

const (
	// SCRAM asks for the password by SCRAM-SHA-256, bound to the certificate of the connection where there is one.
	SCRAM Method = iota
	// Certificate takes the client's certificate, which TLS has verified: its common name or one of its alternative
	// names is the user.
	Certificate
	// Trust believes whatever name the client gives.
	Trust
)

// Reason is why a statement cannot be answered: a sentence, and what to do.
type Reason struct {
	// SQLState is 57P03 where waiting helps.
	SQLState string
	Message  string
	Hint     string
}

// A Table is what the console shows: text in rows, each as long as Columns.
type Table struct {
	Columns []string
	Rows    [][]string
}

// A Topic is a table of the console that is not the Server's own.
type Topic struct {
	// Tells is what is in it, for SHOW HELP.
	Tells string
	// Table makes it, each time that it is asked for.
	Table func() Table
}

// Settings configures a Server. Change replaces MaxSessions, IdleTimeout, MaxAge and Method while it runs.
type Settings struct {
	// Database is the name of the database that is served. Required.
	Database string
	// IDs answers. Required.
	IDs IDs
	// Segments answers for business tags; nil: there are none here.
	Segments Segments
	// Unavailable says of an error of IDs or Segments what a client is told. Required.
	Unavailable func(error) Reason
	// Parameters are what the real server says of itself when a client has logged in, as last seen: server_version and
	// whatever else drivers read. Required.
	Parameters func() map[string]string
	// Accounts are those who may log in, as last read; nil: they were never read. It is called once a login, and may
	// wait for the first reading. Required, but for Trust.
	Accounts func() *account.List
	// Console are the tables of SHOW LEASE, SHOW WORKERS and so on, by the word behind SHOW, in upper case. SHOW HELP
	// and SHOW SESSIONS are the Server's own.
	Console map[string]Topic
	// Method is how clients prove who they are.
	Method Method
	// MaxSessions is how many sessions may be open at once; no limit if zero or less.
	MaxSessions int
	// IdleTimeout ends a session that has sent nothing for so long; never if zero.
	IdleTimeout time.Duration
	// MaxAge is how old what is known of the accounts may be for somebody to log in; no limit if zero.
	MaxAge time.Duration
	// Log gets the causes that clients are not told; discarded if nil.
	Log *slog.Logger
}

// rules are what Change replaces.
type rules struct {
	method      Method
	maxSessions int           // no limit if zero or less
	idleTimeout time.Duration // never if zero
	maxAge      time.Duration // no limit if zero
}

// Server serves one database to any number of clients. Its methods are safe for concurrent use.
type Server struct {
	settings Settings // but for what Change replaces
	rules    atomic.Pointer[rules]
	log      *slog.Logger
	buffers  *frame.Buffers
	draining atomic.Bool
	turns    turns
	now      func() time.Time // the clock of attempts and accounts

	register   register
	keys       keys
	attempts   *attempts
	binder     scram.Binder
	logins     [results]atomic.Int64
	loginTimes *histogram.Histogram
}

// New checks the settings and returns a Server without sessions.
func New(s Settings) (*Server, error) {
	switch {
	case s.Database == "":
		return nil, errors.New("idserver settings have no Database; expected the name of the one that is served")
	case s.IDs == nil:
		return nil, errors.New("idserver settings have no IDs; expected a generator")
	case s.Unavailable == nil || s.Parameters == nil:
		return nil, errors.New("idserver settings lack Unavailable or Parameters; both are required")
	}
	v := &Server{
		settings: s, log: s.Log, buffers: frame.NewBuffers(), now: time.Now, register: newRegister(),
		keys: keys{secrets: make(map[int32][]byte)}, attempts: newAttempts(time.Now()), loginTimes: newLoginTimes(),
		turns: newTurns(),
	}
	if v.log == nil {
		v.log = slog.New(slog.DiscardHandler)
	}
	if err := v.Change(s); err != nil {
		return nil, err
	}
	return v, nil
}

// Change replaces MaxSessions, IdleTimeout, MaxAge and Method. Nobody who is logged in has to go for it.
func (v *Server) Change(s Settings) error {
	switch {
	case s.Method < SCRAM || s.Method > Trust:
		return fmt.Errorf("idserver settings have method %d; expected %d to %d", s.Method, SCRAM, Trust)
	case s.Method != Trust && v.settings.Accounts == nil:
		return errors.New("idserver settings have no Accounts; only trust does without them")
	}
	v.rules.Store(&rules{s.Method, s.MaxSessions, s.IdleTimeout, s.MaxAge})
	return nil
}

// Has says that a database is the one that is served.
func (v *Server) Has(database string) bool { return database == v.settings.Database }

// Cancels takes a CancelRequest as it came, if its key is that of a session of its own; false: it is not. No statement
// here takes long enough to be cancelled, so nothing else is done.
func (v *Server) Cancels(request []byte) bool { return v.keys.has(request) }
