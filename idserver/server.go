package idserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"pgflurry/account"
	"pgflurry/draw"
	"pgflurry/histogram"
	"pgflurry/proxy/frame"
	"pgflurry/proxy/scram"
	"pgflurry/recent"
)

// Segments gives dense numbers of business tags; segment.Source satisfies it. Both methods are called concurrently, and
// do not keep tag. n is at least 1.
type Segments interface {
	// TryNextN takes a run of up to n numbers of a tag, first … first+count-1. A count of 0 without an error means that
	// there is none at this moment, but will be soon.
	TryNextN(tag []byte, n int) (first int64, count int, err error)
	// NextN does the same, but waits for at least one number.
	NextN(ctx context.Context, tag []byte, n int) (first int64, count int, err error)
}

// Method is how a client proves who it is. The words are those of pg_hba.conf.
type Method int

const (
	// SCRAM asks for the password by SCRAM-SHA-256, bound to the certificate of the connection if there is one.
	SCRAM Method = iota
	// Certificate takes the client's certificate, which TLS has verified. The user must be its common name or one of
	// its alternative names.
	Certificate
	// Trust believes any name that the client gives.
	Trust
)

// Reason is why a statement cannot be answered: a sentence, and what to do.
type Reason struct {
	// SQLState is 57P03 if waiting helps.
	SQLState string
	Message  string
	Hint     string
}

// Table is a table of the console: rows of text, each as long as Columns.
type Table struct {
	Columns []string
	Rows    [][]string
}

// Topic is a table of the console that another package makes.
type Topic struct {
	// Tells says in SHOW HELP what the table has.
	Tells string
	// Table makes the table, at most a hundred times a second for all clients that ask for it.
	Table func() Table
}

// Settings configures a Server. Change replaces MaxSessions, IdleTimeout, MaxAge and Method while it runs.
type Settings struct {
	// Database is the name of the ID database. Required.
	Database string
	// IDs gives the IDs. Required.
	IDs *draw.Room
	// Segments gives the numbers of business tags; nil: there are none here.
	Segments Segments
	// Unavailable turns an error of IDs or Segments into what the client reads. Required.
	Unavailable func(error) Reason
	// Parameters are the parameters that the real server last reported after a login: server_version and others that
	// drivers read. Required.
	Parameters func() map[string]string
	// Accounts are the accounts as last read; nil: they were never read. Each login calls it once. It may wait for the
	// first reading. Required, except for Trust.
	Accounts func() *account.List
	// Console has the tables of SHOW LEASE, SHOW WORKERS and so on, by the word after SHOW, in upper case. SHOW HELP
	// and SHOW SESSIONS are the Server's own.
	Console map[string]Topic
	// Method is how clients prove who they are.
	Method Method
	// MaxSessions is how many sessions may be open at once; no limit if zero or less.
	MaxSessions int
	// IdleTimeout ends a session whose client has sent nothing for that time; never if zero.
	IdleTimeout time.Duration
	// MaxAge is how old the accounts may be for a login; no limit if zero.
	MaxAge time.Duration
	// Log gets the causes that clients do not see; discarded if nil.
	Log *slog.Logger
}

// rules are the settings that Change replaces.
type rules struct {
	method      Method
	maxSessions int           // no limit if zero or less
	idleTimeout time.Duration // never if zero
	maxAge      time.Duration // no limit if zero
}

// Server serves one database to any number of clients. Its methods are safe for concurrent use.
type Server struct {
	settings Settings // without those that Change replaces
	rules    atomic.Pointer[rules]
	log      *slog.Logger
	buffers  *frame.Buffers
	draining atomic.Bool
	now      func() time.Time // the clock of attempts and accounts

	register   register
	keys       keys
	attempts   *attempts
	binder     scram.Binder
	tables     map[string]*recent.Value[Table] // of Settings.Console
	shown      *recent.Value[shown]            // of SHOW SESSIONS
	logins     [results]atomic.Int64
	loginTimes *histogram.Histogram
}

// New checks the settings and returns a Server without sessions.
func New(s Settings) (*Server, error) {
	switch {
	case s.Database == "":
		return nil, errors.New("idserver settings have no Database; expected the name of the one that is served")
	case s.IDs == nil:
		return nil, errors.New("idserver settings have no IDs; expected a room of draws")
	case s.Unavailable == nil || s.Parameters == nil:
		return nil, errors.New("idserver settings lack Unavailable or Parameters; both are required")
	}
	v := &Server{
		settings: s, log: s.Log, buffers: frame.NewBuffers(), now: time.Now, register: newRegister(),
		keys: keys{all: make(map[int32]key)}, attempts: newAttempts(time.Now()), loginTimes: newLoginTimes(),
	}
	v.shown = recent.New(time.Second, v.show)
	v.tables = make(map[string]*recent.Value[Table], len(s.Console))
	for word, topic := range s.Console {
		v.tables[word] = recent.New(tableEvery, topic.Table)
	}
	if v.log == nil {
		v.log = slog.New(slog.DiscardHandler)
	}
	if err := v.Change(s); err != nil {
		return nil, err
	}
	return v, nil
}

// Change replaces MaxSessions, IdleTimeout, MaxAge and Method. It ends no session.
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

// tableEvery is the shortest time between two tables of Settings.Console.
const tableEvery = 10 * time.Millisecond

// Has says whether this is the database that the Server serves.
func (v *Server) Has(database string) bool { return database == v.settings.Database }

// Cancels takes a CancelRequest as it came. It returns false if the key is of no session here. Otherwise it cancels
// what the session does; a session that waits for its client does nothing.
func (v *Server) Cancels(request []byte) bool {
	s := v.keys.find(request)
	if s == nil {
		return false
	}
	s.work.CompareAndSwap(working, cancelled)
	return true
}
