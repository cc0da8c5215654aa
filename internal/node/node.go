package node

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/config"
	"pgflurry/internal/connect"
	"pgflurry/internal/draw"
	"pgflurry/internal/fault"
	"pgflurry/internal/logs"
	"pgflurry/internal/namespace"
	"pgflurry/internal/report"
	"pgflurry/internal/segment"
	"pgflurry/internal/watch"
	"pgflurry/proxy"
)

// arrivalTime is how long a drain that hands its socket over waits for accepted clients that have not begun a session.
// A real client sends its first message at once; only strangers do not. Half of the drain is the limit, so that open
// transactions get the rest.
const arrivalTime = 5 * time.Second

// connectionAge is the largest age at which the node asks over a connection of its own.
const connectionAge = 30 * time.Second

// A Node is one process of the product: it joins proxy, lease, generator, segments and watch.
type Node struct {
	settings  config.Settings
	log       *slog.Logger
	endLog    func()
	clock     clock
	pause     time.Duration   // between two looks at a database; 0: the usual one
	lease     *pgx.ConnConfig // the lease role at the lease database
	look      *pgx.ConnConfig // the same role, through the upstream
	upstream  *upstream
	rules     connect.Rules // of all connections that the node keeps
	supply    *supply
	databases *watch.Databases
	id        *idDatabase // nil: there is none
	proxy     *proxy.Proxy
	listener  net.Listener
	admin     net.Listener // nil: none

	phase phase

	reloading sync.Mutex
	password  atomic.Pointer[string]          // of the lease role
	current   atomic.Pointer[config.Settings] // settings with what Reload has changed
}

// New checks the settings, reads the file of accounts, and opens the listeners. Nothing is served before Run. The
// caller must call Run, which closes what New has opened.
func New(s config.Settings) (_ *Node, err error) {
	defer func() {
		if err != nil {
			s.CloseHandedOver()
		}
	}()
	if err = s.Complete(); err != nil {
		return nil, fault.WithKind(fault.Usage, err)
	}
	clock, err := newClock(s.Log)
	if err != nil {
		return nil, err
	}
	thinned, endLog := logs.Thin(s.Log.Handler(), clock.wall)
	defer func() {
		if err != nil {
			endLog()
		}
	}()
	n := &Node{
		settings: s, log: slog.New(thinned), endLog: endLog, clock: clock,
		phase: phase{started: clock.wall(), answering: make(chan struct{})},
	}
	n.rules = connect.Rules{
		Age: connectionAge, Pace: new(connect.Pace), Suspicion: new(connect.Suspicion), Now: clock.monotonic,
		Log: n.log,
	}
	n.lease = n.withPassword(s.Lease.Config.Copy())
	n.databases = watch.NewDatabases(n.openNumbers)
	n.supply = &supply{
		settings: s, address: n.address, lease: n.lease, rules: &n.rules, clock: clock, log: n.log,
		judged: n.databases.Judged, queue: draw.NewLate(),
	}
	n.supply.unread.Store(&namespaceUnread)
	n.upstream = &upstream{lease: n.lease, rules: &n.rules, databases: n.databases, log: n.log}
	for _, h := range s.Hosts {
		n.upstream.hosts = append(n.upstream.hosts, proxy.Host(h))
	}
	if err = n.join(); err != nil {
		return nil, err
	}
	if n.admin, err = openAdmin(s.Admin); err != nil {
		return nil, err
	}
	if n.listener, err = openListener(s); err != nil {
		if n.admin != nil {
			n.admin.Close()
		}
		return nil, err
	}
	return n, nil
}

// join connects the proxy with the parts that answer in it.
func (n *Node) join() error {
	var err error
	if n.id, err = n.openIDDatabase(); err != nil {
		return fault.WithKind(fault.Usage, err)
	}
	if n.settings.UpstreamPrimary {
		n.upstream.watchPrimary(n.clock)
	}
	s := n.proxySettings(n.settings)
	if n.proxy, err = proxy.New(s); err != nil {
		return err
	}
	n.upstream.proxy = n.proxy
	n.look = throughUpstream(n.lease, n.upstream.hosts, n.proxy.DialUpstream)
	list, err := n.databases.Prepare(n.settings.Databases)
	if err != nil {
		return err
	}
	list()
	n.logLimits(n.settings, s.Rules)
	n.current.Store(&n.settings)
	n.phase.tookOver(n.settings, n.clock.wall())
	return nil
}

// openNumbers makes the source of a database's segments. It connects only when somebody draws from a tag.
func (n *Node) openNumbers(database string) (*segment.Source, error) {
	there := n.look.Copy()
	there.Database = database
	rules, log := n.rules.Named("segments"), n.log.With("database", database)
	rules.Log = log
	return segment.New(segment.Settings{
		Open:      func() segment.Store { return segment.NewPostgres(&there.Config, rules) },
		Suspicion: n.rules.Suspicion, Now: n.clock.monotonic, Log: log,
	})
}

// watch looks at the databases of a namespace until ctx ends.
func (n *Node) watch(ctx context.Context, ns namespace.Namespace) error {
	return watch.New(watch.Settings{
		Databases: n.databases, Config: n.look, Home: ns, Held: n.supply.held, Server: n.id.realServer(),
		Rules: n.rules, Wall: n.clock.wall, Look: n.pause, Timeout: askTimeout,
	}).Run(ctx)
}

// Addr is where clients connect.
func (n *Node) Addr() net.Addr { return n.listener.Addr() }

// Answering is closed once a worker was leased and the watch has judged every database. From then on IDs come from
// memory in each database with permission.
func (n *Node) Answering() <-chan struct{} { return n.phase.answering }

// Run serves clients until ctx ends, and then drains. An error says why no node with this configuration can go on. Call
// it once.
func (n *Node) Run(ctx context.Context) error {
	defer n.endLog()
	s := n.settings
	n.log.Info("listening", append([]any{
		"address", n.Addr(), "upstream", s.Upstream, "databases", s.Databases, "node", s.Name,
	}, idListening(s.IDDatabase)...)...)
	warnOfPlainText(s, n.Addr(), n.log)
	warnOfExposed(s, n.log)
	n.phase.serving.Store(true) // the listener is open: clients wait in it
	defer n.serveOperators()()

	supplied, seal := context.WithCancel(context.WithoutCancel(ctx)) // IDs are given until the last session is drained
	defer seal()
	var parts sync.WaitGroup
	wrong := make(chan error, 1)
	parts.Go(func() { n.clock.follow(supplied) })
	parts.Go(func() {
		if err := n.ask(supplied); err != nil {
			wrong <- err
		}
	})
	served := make(chan struct{})
	parts.Go(func() {
		defer close(served)
		_ = n.proxy.Serve(n.listener)
	})

	var err error
	select {
	case <-ctx.Done():
		n.phase.draining.Store(true)
		n.log.Info("draining", append([]any{
			"sessions", n.proxy.Stats().Now, "timeout", s.DrainTimeout,
		}, n.id.draining()...)...)
	case err = <-wrong:
		n.phase.draining.Store(true)
	}
	n.drain(served)
	seal()
	n.listener.Close()
	parts.Wait()
	n.proxy.Wait()
	st := n.proxy.Stats()
	n.log.Info("ended", append([]any{
		"sessions", st.Opened, "answers", report.Total(st.ByKind), "ids", st.IDs, "numbers", st.Numbers,
		"declined", report.Total(st.Declined), "turned_away", st.TurnedAway,
	}, n.id.ended()...)...)
	return err
}

// ask runs all that asks PostgreSQL, until ctx ends. When it has returned, the worker is released, and no connection is
// left. An error means that the configuration is wrong.
func (n *Node) ask(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var parts sync.WaitGroup
	defer parts.Wait()
	defer stop()
	if hosts := n.upstream.primary; hosts != nil {
		changed := hosts.Changed()
		parts.Go(func() { n.upstream.follow(ctx, changed) })
		parts.Go(func() { hosts.Run(ctx) })
	}
	parts.Go(func() { n.databases.Run(ctx, func(ctx context.Context, l *watch.Listing) { l.RunNumbers(ctx) }) })
	if n.id != nil {
		parts.Go(func() { n.id.accounts.Run(ctx) })
	}
	return n.supply.run(ctx, n.phase.answering, n.watch)
}

// drain returns when no session is left. It leaves a shared socket to the next process at once. So clients that wait
// there are not refused, nor are those that were accepted before.
func (n *Node) drain(served <-chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), n.settings.DrainTimeout)
	defer cancel()
	if n.settings.Listener != nil {
		n.listener.Close()
		<-served
		n.log.Info("the listening socket is handed over; who waits in it is the next process's")
		arrival, cancel := context.WithTimeout(ctx, min(arrivalTime, n.settings.DrainTimeout/2))
		defer cancel()
		n.proxy.Settle(arrival)
	}
	n.drainSessions(ctx)
}
