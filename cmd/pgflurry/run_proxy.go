package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/connstring"
	"pgflurry/generator"
	"pgflurry/lease"
	"pgflurry/namespace"
	"pgflurry/proxy"
)

// proxySettings is what one proxy process needs to know.
type proxySettings struct {
	listen        string        // HOST:PORT or the path of a Unix socket
	upstream      string        // HOST:PORT, or a Unix socket or its directory
	leaseDatabase string        // connection string
	databases     []string      // sessions to these are answered; empty: the lease database
	node          string        // 1 to 255 characters
	datacenter    string        // number; empty: any
	window        time.Duration // how far ahead the lease reserves
	drainTimeout  time.Duration
	limits        limitSettings
	tls           tlsSettings
	reload        <-chan os.Signal // each reads the TLS files again; may be nil
	log           *slog.Logger
	listening     func(net.Addr) // called once clients are accepted; may be nil
	granted       func()         // called once IDs come from memory; may be nil
	pauses        watchPauses    // zero: the usual ones
	clock         nodeClock      // set by runProxy
}

// runProxy joins proxy, generator and lease, and runs them until ctx ends or the configuration proves wrong.
//
// Goroutines: Serve accepts; issue finds the namespace, then keeps the lease (lease.Keeper.Run) beside watch, which keeps the
// permissions current, one goroutine a database; segments fetch blocks (segment.Source.Run), one a database. All have ended when
// runProxy returns.
func runProxy(ctx context.Context, s proxySettings) error {
	config, err := s.check()
	if err != nil {
		return err
	}
	network, upstream, err := socketOrPort("upstream", s.upstream)
	if err != nil {
		return err
	}
	if s.clock, err = newNodeClock(ctx, s.log); err != nil {
		return err
	}
	s.log = slog.New(s.clock.dated(s.log.Handler()))
	if s.pauses == (watchPauses{}) {
		s.pauses = usualPauses()
	}
	ids := &lateIDs{}
	permissions := newPermissions(s.databases)
	segments := &segmentSources{}
	p, err := s.newProxy(network, upstream, ids, permissions, segments)
	if err != nil {
		return err
	}
	lookConfig := throughUpstream(config, network, upstream, p.DialUpstream)
	if err := segments.open(s, lookConfig); err != nil {
		return err
	}
	ln, err := s.openListener(network, upstream, config)
	if err != nil {
		return err
	}
	s.log.Info("listening", "address", ln.Addr(), "upstream", s.upstream, "databases", s.databases, "node", s.node)

	issuing, seal := context.WithCancel(context.WithoutCancel(ctx)) // IDs are given until the last session is drained
	defer seal()
	var work sync.WaitGroup
	wrong := make(chan error, 1)
	work.Go(func() {
		if err := s.issue(issuing, config, lookConfig, ids, permissions); err != nil {
			wrong <- err
		}
	})
	work.Go(func() { segments.run(issuing) })
	work.Go(func() { _ = p.Serve(ln) })
	if s.listening != nil {
		s.listening(ln.Addr())
	}

	err = s.awaitEnd(ctx, p, wrong)
	if err == nil {
		s.log.Info("draining", "sessions", p.Stats().Sessions, "timeout", s.drainTimeout)
	}
	s.drain(p)
	seal()
	ln.Close()
	work.Wait()
	p.Wait()
	st := p.Stats()
	s.log.Info("ended", "sessions", st.Opened, "answers", st.Answers, "ids", st.IDs, "declined", st.Declined, "turned-away", st.TurnedAway)
	return err
}

func (s proxySettings) newProxy(network, upstream string, ids *lateIDs, permissions *permissions, segments *segmentSources) (*proxy.Proxy, error) {
	settings := proxy.Settings{
		Network: network, Address: upstream, IDs: ids, Permission: permissions.of, Segments: segments.of,
		Log: s.log,
	}
	s.limits.complete(&settings, len(s.databases), descriptors())
	s.log.Info("limits; 0 is none", "clients", settings.MaxClients, "max-connections", settings.MaxSessions,
		"max-logins", settings.MaxLogins, "max-logins-per-address", settings.MaxLoginsPerAddress)
	if err := s.tls.complete(&settings); err != nil {
		return nil, err
	}
	return proxy.New(settings)
}

func (s proxySettings) drain(p *proxy.Proxy) {
	ctx, cancel := context.WithTimeout(context.Background(), s.drainTimeout)
	defer cancel()
	p.Drain(ctx)
}

// awaitEnd returns when the proxy is to end; an error says why it must.
func (s proxySettings) awaitEnd(ctx context.Context, p *proxy.Proxy, wrong <-chan error) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-wrong:
			return err
		case <-s.reload:
			s.tls.reload(p, s.log)
		}
	}
}

// openListener opens the clients' side of a proxy that does not lead to itself.
func (s proxySettings) openListener(network, upstream string, lease *pgx.ConnConfig) (net.Listener, error) {
	ln, err := listen(s.listen)
	if err != nil {
		return nil, err
	}
	if err := notItself(ln.Addr(), network, upstream, lease); err != nil {
		ln.Close()
		return nil, err
	}
	return ln, nil
}

// notItself refuses a proxy in front of itself: each connection would open another one, for ever. A lease kept through itself
// could not be given back at the end.
func notItself(own net.Addr, network, upstream string, lease *pgx.ConnConfig) error {
	if isOwn(own, network, upstream) {
		return fmt.Errorf("--upstream %s is this proxy's own --listen; name the PostgreSQL server behind it", upstream)
	}
	leaseNetwork, leaseAddress := pgconn.NetworkAddress(lease.Host, lease.Port)
	if isOwn(own, leaseNetwork, leaseAddress) {
		return fmt.Errorf("--lease-database leads to %s, this proxy's own --listen; name the PostgreSQL server itself", leaseAddress)
	}
	return nil
}

// isOwn says that connecting to address would reach the listener at own.
func isOwn(own net.Addr, network, address string) bool {
	if network == "unix" || own.Network() == "unix" {
		return network == own.Network() && address == own.String()
	}
	there, err := net.ResolveTCPAddr(network, address)
	here, ok := own.(*net.TCPAddr)
	if err != nil || !ok || there.Port != here.Port {
		return false
	}
	return there.IP.Equal(here.IP) || there.IP == nil || (here.IP.IsUnspecified() && there.IP.IsLoopback())
}

// check completes the settings and refuses what cannot work, before anything is opened.
func (s *proxySettings) check() (*pgx.ConnConfig, error) {
	if err := errors.Join(s.tls.check(), s.limits.check()); err != nil {
		return nil, err
	}
	config, err := connstring.Parse("lease-database", s.leaseDatabase)
	if err != nil {
		return nil, err
	}
	if config.Database == "" {
		config.Database = config.User // as PostgreSQL itself takes it
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // leaves no prepared statement behind in a pooler
	if len(s.databases) == 0 {
		s.databases = []string{config.Database}
	}
	for _, name := range s.databases { // the log tells them
		if strings.Contains(name, "://") || strings.Contains(name, "password=") || strings.Contains(name, ":") && strings.Contains(name, "@") {
			return nil, fmt.Errorf("--databases has %s; expected names of databases", connstring.NotRepeated)
		}
	}
	if s.node == "" {
		return nil, errors.New("--node is missing, and this system does not tell its name; expected a name that stays the same after a restart")
	}
	if _, err := strconv.ParseUint(s.datacenter, 10, 31); s.datacenter != "" && err != nil {
		return nil, fmt.Errorf("--datacenter is %s; expected a number, such as 3, or nothing for any", connstring.Shown(s.datacenter))
	}
	if s.window < time.Second {
		return nil, fmt.Errorf("--window is %v; expected at least 1s", s.window)
	}
	if s.drainTimeout < 0 {
		return nil, fmt.Errorf("--drain-timeout is %v; expected 0 or more", s.drainTimeout)
	}
	return config, nil
}

// issue finds the namespace, makes its generator, and keeps it supplied until ctx ends. An error means that the
// configuration is wrong; what may mend itself is waited for.
func (s proxySettings) issue(ctx context.Context, config, lookConfig *pgx.ConnConfig, ids *lateIDs, permissions *permissions) error {
	ns, err := s.findNamespace(ctx, config)
	if err != nil || ctx.Err() != nil {
		return err
	}
	issuer, keeper, err := s.newIssuer(ns, config)
	if err != nil {
		return err
	}
	ids.generator.Store(issuer)

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var watchers sync.WaitGroup
	defer watchers.Wait()
	defer stop()
	wrong := make(chan error, 1)
	watch := &watcher{
		settings: s, config: lookConfig, id: ns.ID, permissions: permissions,
		functions: make(map[int]string),
	}
	watchers.Go(func() {
		if err := watch.watch(ctx); err != nil {
			wrong <- err
			stop()
		}
	})
	watchers.Go(func() {
		select {
		case <-keeper.Granted():
			if s.granted != nil {
				s.granted()
			}
		case <-ctx.Done():
		}
	})
	err = keeper.Run(ctx)
	select {
	case mismatch := <-wrong:
		return mismatch
	default:
		return err
	}
}

// newIssuer makes the generator of a namespace and the keeper that supplies it with grants.
func (s proxySettings) newIssuer(ns namespace.Namespace, config *pgx.ConnConfig) (*generator.Generator, *lease.Keeper, error) {
	clock := s.clock.ids(ns.Layout.Unit)
	issuer, err := generator.New(generator.Settings{Layout: ns.Layout, Now: clock.Now})
	if err != nil {
		return nil, nil, err
	}
	workers, err := s.workers(ns)
	if err != nil {
		return nil, nil, err
	}
	keeper, err := lease.NewKeeper(lease.Settings{
		Namespace: ns.ID, Store: lease.NewPostgres(&config.Config), Issuer: issuer, Clock: clock,
		Node: s.node, Address: s.listen, Version: version(), Range: workers, Window: s.window, Log: s.log,
	})
	return issuer, keeper, err
}

// lateIDs gives IDs from the moment the namespace, and with it the layout, is known.
type lateIDs struct {
	generator atomic.Pointer[generator.Generator]
}

var errNoNamespace = errors.New("the namespace is not known yet")

func (l *lateIDs) TryNextN(n int) (first int64, count int, err error) {
	g := l.generator.Load()
	if g == nil {
		return 0, 0, errNoNamespace
	}
	return g.TryNextN(n)
}

func (l *lateIDs) NextN(ctx context.Context, n int) (first int64, count int, err error) {
	g := l.generator.Load()
	if g == nil {
		return 0, 0, errNoNamespace
	}
	return g.NextN(ctx, n)
}

// listen opens the clients' side. A Unix socket that nobody serves any more is taken over.
func listen(address string) (net.Listener, error) {
	network, place, err := socketOrPort("listen", address)
	if err != nil {
		return nil, err
	}
	if network == "unix" {
		switch c, err := net.DialTimeout(network, place, time.Second); {
		case err == nil:
			c.Close()
			return nil, fmt.Errorf("--listen %s: another process serves that socket; stop it or choose another path", place)
		case errors.Is(err, syscall.ECONNREFUSED):
			if err := os.Remove(place); err != nil {
				return nil, fmt.Errorf("--listen %s: removing the socket a former process left: %w", place, err)
			}
		}
	}
	ln, err := net.Listen(network, place)
	if err != nil {
		return nil, fmt.Errorf("--listen %s: %w; choose another address, or stop what uses it", address, err)
	}
	return ln, nil
}
