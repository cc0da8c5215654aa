package node

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/connect"
	"pgflurry/internal/primary"
	"pgflurry/internal/report"
	"pgflurry/internal/watch"
	"pgflurry/proxy"
)

// primaryName is the default application_name of the connections that ask whether a host is the primary.
const primaryName = "pgflurry serve, primary"

// hostConnection is how old a connection gets over which a host is asked. A new connection notices that a name or a
// balancer leads elsewhere.
const hostConnection = 10 * time.Second

// An upstream is the hosts behind the proxy, and the watch over them.
type upstream struct {
	hosts     []proxy.Host
	lease     *pgx.ConnConfig // the lease role at the lease database
	rules     *connect.Rules  // of the connections that ask
	databases *watch.Databases
	log       *slog.Logger
	proxy     *proxy.Proxy   // dials; nil until it is made
	primary   *primary.Watch // nil: connections may go to any host
}

// watchPrimary makes the watch over the hosts.
func (u *upstream) watchPrimary(clock clock) {
	servers := make([]primary.Server, len(u.hosts))
	for i, h := range u.hosts {
		asked := u.newAskedHost(i)
		servers[i] = primary.Server{Name: h.Address, Ask: asked.ask, Close: asked.asker.Close}
	}
	u.primary = primary.New(primary.Settings{
		Servers: servers, Now: clock.monotonic, Wall: clock.wall, Log: u.log,
	})
}

// primaryHost is what the proxy asks for the host of its connections; nil: any host.
func (u *upstream) primaryHost() func(context.Context) (proxy.Primary, error) {
	if u.primary == nil {
		return nil
	}
	return func(ctx context.Context) (proxy.Primary, error) {
		p, err := u.primary.Primary(ctx)
		return proxy.Primary{Host: p.Host, Over: p.Over}, err
	}
}

// follow raises a suspicion whenever another host becomes the primary, until ctx ends.
func (u *upstream) follow(ctx context.Context, changed <-chan struct{}) {
	for {
		select {
		case <-changed:
			changed = u.primary.Changed()
			u.rules.Suspicion.Raise()
		case <-ctx.Done():
			return
		}
	}
}

// fill adds what the hosts have answered to the state.
func (u *upstream) fill(s *report.Upstreams) {
	if u.primary == nil {
		return
	}
	now := u.primary.State()
	s.Hosts, s.Since, s.Found = now.Hosts, now.Since, now.Found
}

// An askedHost is one host of the upstream. It keeps a connection for some time. One goroutine uses it.
type askedHost struct {
	of       *upstream
	host     int
	asker    *connect.Asker
	question primary.Question
	refusals int // how often the lease role was refused; each time the next question goes to another database
}

func (u *upstream) newAskedHost(host int) *askedHost {
	h := &askedHost{of: u, host: host}
	rules := u.rules.Named(primaryName)
	rules.Age, rules.Log = hostConnection, u.log.With("host", u.hosts[host].Address)
	h.asker = connect.NewAsker(h.config, askTimeout, rules)
	return h
}

// ask asks whether the host is the primary.
func (h *askedHost) ask(ctx context.Context) (a primary.Answer, err error) {
	err = h.asker.Ask(ctx, func(ctx context.Context, conn *pgx.Conn) (err error) {
		a, err = h.question.Ask(ctx, conn)
		return err
	})
	if login := new(connect.LoginError); errors.As(err, &login) && !watch.Away(err) {
		h.refusals++
	}
	return a, err
}

// database is the one to ask. If one is gone, closed or full, that must not hide the primary from all others.
func (h *askedHost) database() string {
	names := h.of.askedDatabases()
	return names[h.refusals%len(names)]
}

func (h *askedHost) config() *pgx.ConnConfig {
	u := h.of
	config := throughUpstream(u.lease, u.hosts[h.host:h.host+1], func(ctx context.Context) (net.Conn, error) {
		return u.proxy.DialHost(ctx, h.host)
	})
	config.Database = h.database()
	return config
}

// askedDatabases are those whose sessions are answered. The lease database is first if it is one of them: the lease
// role can surely log in there.
func (u *upstream) askedDatabases() []string {
	list := u.databases.Listed()
	names := make([]string, 0, len(list))
	for _, l := range list {
		if name := l.Name(); name == u.lease.Database {
			names = slices.Insert(names, 0, name)
		} else {
			names = append(names, name)
		}
	}
	return names
}
