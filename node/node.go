package node

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/admin"
	"pgflurry/outcome"
	"pgflurry/proxy"
)

// arrivalTime is how long a drain that hands its socket over waits for clients that were accepted and have not begun a
// session: who connects sends its first message at once, and only strangers do not.
const arrivalTime = 5 * time.Second

// A Node is one process of the product: proxy, lease, generator, segments and watch, joined.
type Node struct {
	settings    Settings
	log         *slog.Logger
	endLog      func()
	clock       clock
	pauses      pauses
	lease       *pgx.ConnConfig // of the lease role, to the lease database
	look        *pgx.ConnConfig // of the same role, through the upstream
	ids         *lateIDs
	permissions *permissions
	segments    *segmentSources
	proxy       *proxy.Proxy
	listener    net.Listener
	admin       net.Listener  // nil: none
	answering   chan struct{} // closed once a worker was leased and all databases were judged

	started           time.Time // by the wall clock
	known             atomic.Pointer[known]
	unread            atomic.Pointer[trouble] // why nothing is known
	surveyed          atomic.Pointer[admin.Workers]
	serving, draining atomic.Bool

	reloading sync.Mutex
	asking    sync.Mutex // held by the one question for a history
}

// New checks the settings, reads the files they name, and opens the listeners. Nothing is served before Run, which must
// follow: it closes what New has opened.
func New(s Settings) (_ *Node, err error) {
	defer func() {
		if err != nil {
			s.closeHandedOver()
		}
	}()
	leaseConfig, err := s.complete()
	if err != nil {
		return nil, outcome.As(outcome.Usage, err)
	}
	network, upstream, err := ParseAddress("upstream", s.Upstream)
	if err != nil {
		return nil, err
	}
	clock, err := newClock(s.Log)
	if err != nil {
		return nil, err
	}
	thinned, endLog := thin(s.Log.Handler())
	defer func() {
		if err != nil {
			endLog()
		}
	}()
	n := &Node{
		settings: s, log: slog.New(clock.dated(thinned)), endLog: endLog, clock: clock, pauses: usualPauses(),
		lease: leaseConfig, ids: &lateIDs{}, permissions: newPermissions(s.Databases), segments: &segmentSources{},
		answering: make(chan struct{}), started: clock.wall(),
	}
	n.unread.Store(&namespaceUnread)
	if n.proxy, err = n.newProxy(network, upstream); err != nil {
		return nil, err
	}
	n.look = throughUpstream(leaseConfig, network, upstream, n.proxy.DialUpstream)
	if err = n.segments.open(n); err != nil {
		return nil, err
	}
	if n.admin, err = openAdmin(s.Admin); err != nil {
		return nil, err
	}
	if n.listener, err = s.openListener(network, upstream, leaseConfig); err != nil {
		if n.admin != nil {
			n.admin.Close()
		}
		return nil, err
	}
	return n, nil
}

// newProxy joins the proxy with what answers in it.
func (n *Node) newProxy(network, upstream string) (*proxy.Proxy, error) {
	s := proxy.Settings{
		Network: network, Address: upstream, Log: n.log,
		IDs: n.ids, Permission: n.permissions.of, Segments: n.segments.of, WhyNot: whyNot,
	}
	n.settings.Limits.apply(&s, len(n.settings.Databases), descriptors())
	n.log.Info("limits; 0 is none", "clients", s.MaxClients, "max_connections", s.MaxSessions,
		"max_logins", s.MaxLogins, "max_logins_per_address", s.MaxLoginsPerAddress)
	if err := n.settings.TLS.apply(&s); err != nil {
		return nil, outcome.As(outcome.Usage, err)
	}
	return proxy.New(s)
}

// Addr is where clients connect.
func (n *Node) Addr() net.Addr { return n.listener.Addr() }

// Answering is closed once a worker was leased and the watch has judged every database: IDs come from memory in each
// that it permits.
func (n *Node) Answering() <-chan struct{} { return n.answering }

// Reload reads the files of TLS again. Open sessions do not notice. If a file cannot be used, everything stays as it
// is, and the log says so.
func (n *Node) Reload() {
	n.reloading.Lock()
	defer n.reloading.Unlock()
	n.settings.TLS.reload(n.proxy, n.log)
}

// Run serves clients until ctx ends, and then drains. An error says why no node with this configuration can go on. Run
// is called once.
func (n *Node) Run(ctx context.Context) error {
	defer n.endLog()
	s := n.settings
	n.log.Info("listening", "address", n.Addr(), "upstream", s.Upstream, "databases", s.Databases, "node", s.Name)
	defer n.tellOperators()()

	supplied, seal := context.WithCancel(context.WithoutCancel(ctx)) // IDs are given until the last session is drained
	defer seal()
	var parts sync.WaitGroup
	wrong := make(chan error, 1)
	parts.Go(func() { n.clock.follow(supplied) })
	parts.Go(func() {
		if err := n.supply(supplied); err != nil {
			wrong <- err
		}
	})
	parts.Go(func() { n.segments.run(supplied) })
	served := make(chan struct{})
	parts.Go(func() {
		defer close(served)
		_ = n.proxy.Serve(n.listener)
	})
	n.serving.Store(true) // the listener is open: who connects is accepted

	var err error
	select {
	case <-ctx.Done():
		n.draining.Store(true)
		n.log.Info("draining", "sessions", n.proxy.Stats().Sessions, "timeout", s.DrainTimeout)
	case err = <-wrong:
		n.draining.Store(true)
	}
	n.drain(served)
	seal()
	n.listener.Close()
	parts.Wait()
	n.proxy.Wait()
	st := n.proxy.Stats()
	n.log.Info("ended", "sessions", st.Opened, "answers", st.Answers, "ids", st.IDs, "numbers", st.Numbers,
		"declined", st.Declined, "turned_away", st.TurnedAway)
	return err
}

// drain returns when no session is left. A socket that the next process shares is left to it at once: who waits there
// is not refused, and neither is who was accepted before.
func (n *Node) drain(served <-chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), n.settings.DrainTimeout)
	defer cancel()
	if n.settings.Listener != nil {
		n.listener.Close()
		<-served
		n.log.Info("the listening socket is handed over; who waits in it is the next process's")
		arrival, cancel := context.WithTimeout(ctx, arrivalTime)
		defer cancel()
		n.proxy.Settle(arrival)
	}
	n.proxy.Drain(ctx)
}
