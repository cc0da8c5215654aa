package proxy

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"pgflurry/internal/draw"
	"pgflurry/proxy/internal/admission"
	"pgflurry/proxy/internal/conversation"
	"pgflurry/proxy/internal/frame"
	"pgflurry/proxy/internal/frontend"
	"pgflurry/proxy/statement"
)

const (
	defaultDialTimeout = 10 * time.Second
	// acceptPause is the wait after an accept that failed, usually because there are no descriptors left. It doubles up
	// to maxAcceptPause.
	acceptPause    = 5 * time.Millisecond
	maxAcceptPause = time.Second
)

// Settings configures a Proxy. Change replaces the limits, the timeouts of clients and TLS while it runs.
type Settings struct {
	// Upstream has the hosts behind the proxy, at least one. Without Primary, a connection goes to the first host that
	// accepts it.
	Upstream []Host
	// Primary finds the one host that connections go to now. Nil means that any host will do. It may wait
	// until ctx ends. Each connection calls it, concurrently.
	Primary func(ctx context.Context) (Primary, error)
	// IDs answers from memory. Required.
	IDs *draw.Queue
	// Permission finds what sessions to a database may get from memory; nil permits nothing. Each session calls it
	// once.
	Permission func(database string) *statement.Permission
	// Segments finds the source of a database's numbers. Nil means that there is none; so does a nil result. Each
	// session calls it once.
	Segments func(database string) Segments
	// WhyNot turns an error of IDs or Segments into the reason why a statement is not answered. Nil stands for
	// DeclineNoLease in each case. It is called concurrently.
	WhyNot func(error) Decline
	// Rules may change later (Proxy.Change).
	Rules
	// DialTimeout bounds connecting to upstream; 10 s if zero. Several hosts share it.
	DialTimeout time.Duration
	// UnixUpstreamTrustsClients lets a client in where upstream asks it for nothing over a Unix socket. Otherwise only
	// a client that runs as the proxy's own account gets in there, by a Unix socket (unproven.go).
	UnixUpstreamTrustsClients bool
	// Inside serves the sessions of the ID database, which needs no upstream; nil if there is none. MaxSessions does
	// not count them, MaxClients does.
	Inside Inside
	// UpstreamLost is called when upstream ends a session whose client is still there: the socket ends, or the server
	// stops. Nil: nobody wants to know. It is called concurrently, and must not wait.
	UpstreamLost func()
	// Log gets the causes that clients do not see; discarded if nil.
	Log *slog.Logger

	deafTime     time.Duration // tests shorten it
	patience     time.Duration // of an answer for its IDs; tests lengthen it
	slotPatience time.Duration // of a client for its place at upstream; tests shorten it
	fairTime     time.Duration // of a client that has not logged in; tests shorten it
}

// Proxy relays between clients and the hosts of one upstream. Its methods are safe for concurrent use.
type Proxy struct {
	hosts      *hosts
	sources    sources
	permission func(string) *statement.Permission
	segments   func(string) Segments
	trusting   bool // Settings.UnixUpstreamTrustsClients
	deafTime   time.Duration
	limits     *admission.Limits
	rules      atomic.Pointer[Rules]
	log        *slog.Logger
	inside     Inside
	lastID     atomic.Int64
	counters   counters
	lost       func() // upstream has ended a session
	batches    *conversation.Batches
	ctx        context.Context // ends after Drain
	stop       context.CancelFunc
	registry   frontend.Registry[*pair]
	conns      sync.WaitGroup
}

// New checks the settings. The Proxy serves nothing until Serve is called.
func New(s Settings) (*Proxy, error) {
	if s.IDs == nil {
		return nil, errors.New("proxy settings have no IDs; expected a queue of draws")
	}
	if err := checkHosts(s.Upstream); err != nil {
		return nil, err
	}
	p := &Proxy{
		permission: s.Permission, segments: s.Segments, log: s.Log,
		deafTime: cmp.Or(s.deafTime, deafTime),
		batches:  conversation.NewBatches(),
		inside:   s.Inside, lost: s.UpstreamLost, counters: newCounters(),
		trusting: s.UnixUpstreamTrustsClients,
	}
	p.sources = sources{s.IDs, cmp.Or(s.patience, patience), s.WhyNot, frame.NewBuffers(), &p.counters}
	p.registry.Begin()
	p.limits = admission.New(
		&p.conns, cmp.Or(s.slotPatience, admission.SlotPatience), cmp.Or(s.fairTime, admission.FairTime),
	)
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.hosts = &hosts{
		all: s.Upstream, primary: s.Primary, timeout: cmp.Or(s.DialTimeout, defaultDialTimeout), ended: p.ctx,
		buffers: p.sources.buffers, counters: &p.counters,
	}
	if p.permission == nil {
		p.permission = func(string) *statement.Permission { return nil }
	}
	if p.segments == nil {
		p.segments = func(string) Segments { return nil }
	}
	if p.lost == nil {
		p.lost = func() {}
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if err := p.Change(s.Rules); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// Serve accepts clients until the listener is closed, which is no error. It does not wait for its sessions; Drain ends
// them.
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
		p.registry.Arrives()
		id := p.lastID.Add(1)
		p.conns.Go(func() { p.serve(conn, id, a) })
	}
}

// Drain ends all sessions and returns when none is left. A session where neither side owes anything ends at once. The
// others end at their next ReadyForQuery outside a transaction, and all of them when ctx ends. Drain does not end
// sessions of Inside. The caller closes the listener afterwards, so that cancel requests are passed on until the last
// session has ended. Before a handover of the socket, the caller closes it first (Settle).
func (p *Proxy) Drain(ctx context.Context) {
	p.registry.Drain(ctx, func(left int) { p.log.Warn("drain timeout: sessions are ended", "sessions", left) })
	p.stop() // ends connections that never became sessions
}

// Wait returns when every accepted connection is over.
func (p *Proxy) Wait() { p.conns.Wait() }

// Settle waits until each accepted connection has become a session or is over, or until ctx ends. A client of Inside
// counts as a session once it has logged in. With Settle, a handover of the listening socket refuses no client that was
// accepted. The caller closes the listener, waits for Serve to return, calls Settle, and then Drain.
func (p *Proxy) Settle(ctx context.Context) { p.registry.Settle(ctx) }
