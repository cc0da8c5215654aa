package node

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/fresh"
	"pgflurry/primary"
	"pgflurry/proxy"
	"pgflurry/report"
	"pgflurry/watch"
)

// primaryName is the default application_name of the connections that ask whether a host is the primary.
const primaryName = "pgflurry serve, primary"

// hostConnection is how old a connection gets over which a host is asked. A new connection notices that a name or a
// balancer leads elsewhere.
const hostConnection = 10 * time.Second

// newPrimary makes the watch over the hosts; nil: any host will do.
func (n *Node) newPrimary() *primary.Watch {
	if !n.settings.UpstreamPrimary {
		return nil
	}
	servers := make([]primary.Server, len(n.hosts))
	for i, h := range n.hosts {
		asked := n.newAskedHost(i)
		servers[i] = primary.Server{Name: h.Address, Ask: asked.ask, Close: asked.asker.Close}
	}
	return primary.New(primary.Settings{Servers: servers, Now: n.clock.monotonic, Wall: n.clock.wall, Log: n.log})
}

// primaryHost is what the proxy asks for the host of its connections; nil: any host.
func (n *Node) primaryHost() func(context.Context) (proxy.Primary, error) {
	if n.primary == nil {
		return nil
	}
	return func(ctx context.Context) (proxy.Primary, error) {
		r, err := n.primary.Reign(ctx)
		return proxy.Primary{Host: r.Host, Over: r.Over}, err
	}
}

// followPrimary raises a suspicion whenever another host becomes the primary, until ctx ends.
func (n *Node) followPrimary(ctx context.Context, changed <-chan struct{}) {
	for {
		select {
		case <-changed:
			changed = n.primary.Changed()
			n.rules.Suspicion.Raise()
		case <-ctx.Done():
			return
		}
	}
}

// tellPrimary adds what the hosts have answered to the state.
func (n *Node) tellPrimary(u *report.Upstreams) {
	if n.primary == nil {
		return
	}
	s := n.primary.State()
	u.Hosts, u.Since, u.Found = s.Hosts, s.Since, s.Found
}

// An askedHost is one host of the upstream. It keeps a connection for some time. One goroutine uses it.
type askedHost struct {
	node     *Node
	host     int
	asker    *fresh.Asker
	question primary.Question
	refusals int // how often the lease role was refused; each time the next question goes to another database
}

func (n *Node) newAskedHost(host int) *askedHost {
	h := &askedHost{node: n, host: host}
	rules := n.rules.Named(primaryName)
	rules.Age, rules.Log = hostConnection, n.log.With("host", n.hosts[host].Address)
	h.asker = fresh.NewAsker(h.config, askTimeout, rules)
	return h
}

// ask asks whether the host is the primary.
func (h *askedHost) ask(ctx context.Context) (a primary.Answer, err error) {
	err = h.asker.Ask(ctx, func(ctx context.Context, conn *pgx.Conn) (err error) {
		a, err = h.question.Ask(ctx, conn)
		return err
	})
	if login := new(fresh.LoginError); errors.As(err, &login) && !watch.Away(err) {
		h.refusals++
	}
	return a, err
}

// database is the one to ask. If one is gone, closed or full, that must not hide the primary from all others.
func (h *askedHost) database() string {
	names := h.node.askedDatabases()
	return names[h.refusals%len(names)]
}

func (h *askedHost) config() *pgx.ConnConfig {
	n := h.node
	config := throughUpstream(n.lease, n.hosts[h.host:h.host+1], func(ctx context.Context) (net.Conn, error) {
		return n.proxy.DialHost(ctx, h.host)
	})
	config.Database = h.database()
	return config
}

// askedDatabases are those whose sessions are answered. The lease database is first if it is one of them: the lease
// role can surely log in there.
func (n *Node) askedDatabases() []string {
	list := n.databases.Listed()
	names := make([]string, 0, len(list))
	for _, l := range list {
		if name := l.Name(); name == n.lease.Database {
			names = slices.Insert(names, 0, name)
		} else {
			names = append(names, name)
		}
	}
	return names
}
