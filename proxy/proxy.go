package proxy

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"pgflurry/proxy/frame"
	"pgflurry/proxy/pgtls"
	"pgflurry/proxy/statement"
)

const (
	defaultLoginTimeout = 60 * time.Second
	defaultDialTimeout  = 10 * time.Second
	// acceptPause is the wait after an accept that failed, for want of descriptors as a rule;
	// it doubles up to maxAcceptPause.
	acceptPause    = 5 * time.Millisecond
	maxAcceptPause = time.Second
)

// IDs gives unique IDs from memory; the generator satisfies it. Both methods are called concurrently.
type IDs interface {
	// TryNextN takes a run of up to n IDs, first … first+count-1. A count of 0 without an error means: none at this
	// very moment, soon again.
	TryNextN(n int) (first int64, count int, err error)
	// NextN does the same and waits for at least one.
	NextN(ctx context.Context, n int) (first int64, count int, err error)
}

// Segments gives dense numbers of business tags from memory; segment.Source satisfies it. Both methods are called
// concurrently, and do not keep tag. n is at least 1. Any error means: PostgreSQL itself has to be asked.
type Segments interface {
	// TryNextN takes a run of up to n numbers of a tag, first … first+count-1. A count of 0 without an error means:
	// none at this very moment, soon again.
	TryNextN(tag []byte, n int) (first int64, count int, err error)
	// NextN does the same and waits for at least one.
	NextN(ctx context.Context, tag []byte, n int) (first int64, count int, err error)
}

// Permission says which answered forms a session may get from memory. It may change while sessions use it; the zero
// value and nil permit nothing.
type Permission struct{ ids, segments atomic.Int32 }

// Level is how much a Permission permits.
type Level int32

const (
	AnswerNothing   Level = iota // forward everything
	AnswerQualified              // only functions with the schema in which they live: pgflurry.next_segment('a')
	AnswerAll                    // other names as well: no other function could be meant
)

// Set changes which IDs sessions may get from now on.
func (p *Permission) Set(l Level) { p.ids.Store(int32(l)) }

// SetSegments changes which numbers of business tags sessions may get from now on.
func (p *Permission) SetSegments(l Level) { p.segments.Store(int32(l)) }

func (p *Permission) allows(f *statement.Form) bool {
	if p == nil {
		return false
	}
	l := Level(p.ids.Load())
	if f.Tag != nil {
		l = Level(p.segments.Load())
	}
	return l == AnswerAll || (l == AnswerQualified && !f.Unqualified)
}

// Settings configures a Proxy. Change replaces limits, time-outs of clients and TLS while it runs.
type Settings struct {
	// Upstream are the hosts behind the proxy, at least one. A connection goes to the first that takes it, unless there
	// is Reign.
	Upstream []Host
	// Reign finds the one host that connections go to now, where not every host will do; nil: each does. It may wait
	// until ctx ends. It is called for each connection, concurrently.
	Reign func(ctx context.Context) (Reign, error)
	// IDs answers from memory. Required.
	IDs IDs
	// Permission finds what sessions to a database may get from memory; nil for none. It is called once a session.
	Permission func(database string) *Permission
	// Segments finds what gives the numbers of a database's tags; nil, as the function or as what it returns, for none.
	// It is called once a session.
	Segments func(database string) Segments
	// WhyNot says of an error of IDs or Segments why a statement is not answered; nil: DeclineNoLease for each. It is
	// called concurrently.
	WhyNot func(error) Decline
	// MaxSessions is how many sessions may be open at once, each a connection to upstream; no limit if zero or less. A
	// session counts from before upstream is reached for it until both its connections are closed. Requests to cancel a
	// statement have a limit of their own. Where all places are taken, a session that has not logged in gives way as
	// under MaxLogins, so that nobody fills them without a password.
	MaxSessions int
	// MaxClients is how many connections of clients may be open at once, whatever they are for; no limit if zero or
	// less. One more is closed. Each needs up to two descriptors. A session of Inside needs one, and counts half.
	MaxClients int
	// MaxLogins is how many connections may be open at once that have not logged in; no limit if zero or less. One
	// counts from accept until upstream has let the client in. One more is closed, or has another one closed that has
	// had its time or comes from an address with many more of them (crowd.go).
	MaxLogins int
	// MaxLoginsPerAddress is the same for each address of clients; no limit if zero or less. The addresses of an IPv6
	// network of 64 bits are one, and so are all Unix sockets.
	MaxLoginsPerAddress int
	// HandshakeTimeout bounds a TLS handshake with a client, from the moment it may begin; 5 s if zero.
	HandshakeTimeout time.Duration
	// LoginTimeout bounds the time from accept to the first ReadyForQuery, but for DialTimeout; 60 s if zero.
	LoginTimeout time.Duration
	// DialTimeout bounds connecting to upstream; 10 s if zero. Each host has its share of it.
	DialTimeout time.Duration
	// ClientTLS is what clients get that ask for TLS; they are refused it if nil.
	ClientTLS *pgtls.Client
	// RequireTLS refuses sessions without TLS. Cancel requests may come without: libpq before 17 sends them so.
	RequireTLS bool
	// UpstreamTLS protects the connections to upstream.
	UpstreamTLS pgtls.Upstream
	// AskPassword makes the proxy log in for its clients: where upstream wants a password in any way, the client is
	// asked for it in clear text. Nothing is kept of it. Needs RequireTLS.
	AskPassword bool
	// Inside serves the sessions of a database that needs no upstream; nil: there is none. MaxSessions does not count
	// them, MaxClients does.
	Inside Inside
	// Log gets the causes that clients are not told; discarded if nil.
	Log *slog.Logger
}

// Proxy relays between clients and the hosts of one upstream. Its methods are safe for concurrent use.
type Proxy struct {
	hosts       []Host
	reign       func(context.Context) (Reign, error) // nil: each host will do
	ids         IDs
	permission  func(string) *Permission
	segments    func(string) Segments
	dialTimeout time.Duration
	limits      limits
	rules       atomic.Pointer[rules]
	ways        atomic.Pointer[[]way] // to the hosts
	log         *slog.Logger
	inside      Inside
	guests      atomic.Int64 // sessions of inside
	draining    atomic.Bool
	lastID      atomic.Int64
	made        time.Time
	counters    counters
	whyNot      func(error) Decline
	buffers     *frame.Buffers
	batches     *batches
	ctx         context.Context // ends when Drain has
	stop        context.CancelFunc

	mu sync.Mutex
	// maxSessions is Settings.MaxSessions.
	maxSessions int
	sessions    map[*session]struct{}
	keys        map[string]*session // by what upstream gave them to cancel with
	arriving    int                 // connections that were accepted, and are neither sessions yet nor over
	places      int                 // taken, by sessions and by those that are on their way to upstream
	closed      bool                // no further session
	ended       sums                // of the sessions that are over
	conns       sync.WaitGroup
	changed     chan struct{} // closed and replaced when a session ends, a place is given back, or one has arrived
}

// New checks the settings and returns a Proxy that serves nothing yet.
func New(s Settings) (*Proxy, error) {
	if s.IDs == nil {
		return nil, errors.New("proxy settings have no IDs; expected a generator")
	}
	if err := checkHosts(s.Upstream); err != nil {
		return nil, err
	}
	p := &Proxy{
		hosts: s.Upstream, reign: s.Reign, ids: s.IDs, permission: s.Permission, segments: s.Segments, log: s.Log,
		dialTimeout: s.DialTimeout, sessions: make(map[*session]struct{}), keys: make(map[string]*session),
		changed: make(chan struct{}),
		buffers: frame.NewBuffers(), batches: newBatches(), limits: newLimits(fairTime),
		inside: s.Inside, whyNot: s.WhyNot, made: time.Now(), counters: newCounters(),
	}
	p.ctx, p.stop = context.WithCancel(context.Background())
	if p.permission == nil {
		p.permission = func(string) *Permission { return nil }
	}
	if p.segments == nil {
		p.segments = func(string) Segments { return nil }
	}
	if p.dialTimeout == 0 {
		p.dialTimeout = defaultDialTimeout
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if err := p.Change(s); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// Serve accepts clients until the listener is closed, which is no error. It returns once; Drain ends the sessions.
func (p *Proxy) Serve(ln net.Listener) error {
	var pause time.Duration
	for {
		conn, err := ln.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			if pause == 0 {
				p.log.Warn("accept fails; retrying", "cause", err)
			}
			pause = min(max(2*pause, acceptPause), maxAcceptPause)
			<-time.After(pause)
			continue
		}
		pause = 0
		a := p.welcome(conn)
		if a == nil {
			continue
		}
		p.arrives()
		id := p.lastID.Add(1)
		p.conns.Go(func() { p.serve(conn, id, a) })
	}
}

// Drain sends clients away and returns when none is left. Those that owe and are owed nothing go at once, others at
// their next ReadyForQuery outside a transaction, all when ctx ends. Those of Inside are not its affair. The caller
// closes the listener afterwards: until the last session has ended, cancel requests are still passed on. A caller that
// hands its socket over has closed it before (Settle).
func (p *Proxy) Drain(ctx context.Context) {
	p.draining.Store(true)
	p.each((*session).interrupt)
	for {
		p.mu.Lock()
		left, changed := len(p.sessions), p.changed
		p.closed = true
		p.mu.Unlock()
		if left == 0 {
			p.stop() // connections that never became sessions
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			p.log.Warn("drain timeout: sessions are ended", "sessions", left)
			p.each(func(s *session) { p.conns.Go(func() { s.kill(failDraining) }) })
			ctx = context.Background() // killed sessions end by themselves
		}
	}
}

// Wait returns when every connection that was accepted is over.
func (p *Proxy) Wait() { p.conns.Wait() }

func (p *Proxy) each(f func(*session)) {
	p.mu.Lock()
	all := p.sessionsLocked()
	p.mu.Unlock()
	for _, s := range all {
		f(s)
	}
}

func (p *Proxy) sessionsLocked() []*session {
	all := make([]*session, 0, len(p.sessions))
	for s := range p.sessions {
		all = append(all, s)
	}
	return all
}

// remember enters a session that has a place.
func (p *Proxy) remember(s *session) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return clientError{code: failNotAccepting}
	}
	p.sessions[s] = struct{}{}
	p.ended.opened++
	return nil
}

func (p *Proxy) forget(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sessions, s)
	if p.keys[s.key] == s {
		delete(p.keys, s.key)
	}
	p.ended.add(s)
	p.ended.closed[s.closedFor()]++
	p.givePlaceLocked(s.stranger)
}

func (p *Proxy) changedLocked() {
	close(p.changed)
	p.changed = make(chan struct{})
}
