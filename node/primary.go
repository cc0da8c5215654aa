package node

import (
	"context"
	"net"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/admin"
	"pgflurry/primary"
	"pgflurry/proxy"
)

// primaryName is the application_name of the question whether a host is the primary, unless the connection string has
// one.
const primaryName = "pgflurry serve, primary"

// hostConnection is how long a host is asked by one connection. A new one notices that a name, or a balancer, leads
// elsewhere.
const hostConnection = 10 * time.Second

// newPrimary makes what knows the primary; nil: nobody asks.
func (n *Node) newPrimary() *primary.Watch {
	if !n.settings.UpstreamPrimary {
		return nil
	}
	servers := make([]primary.Server, len(n.hosts))
	for i, h := range n.hosts {
		asked := &askedHost{node: n, host: i}
		servers[i] = primary.Server{Name: h.Address, Ask: asked.ask, Close: asked.kept.close}
	}
	return primary.New(primary.Settings{Servers: servers, Now: n.clock.monotonic, Wall: n.clock.wall, Log: n.log})
}

// reign is what the proxy asks where connections go; nil: to any host.
func (n *Node) reign() func(context.Context) (proxy.Reign, error) {
	if n.primary == nil {
		return nil
	}
	return func(ctx context.Context) (proxy.Reign, error) {
		r, err := n.primary.Reign(ctx)
		return proxy.Reign{Host: r.Host, Over: r.Over}, err
	}
}

// moved is closed when connections go to another host than now; nil: they never do.
func (n *Node) moved() <-chan struct{} {
	if n.primary == nil {
		return nil
	}
	return n.primary.Changed()
}

// tellPrimary tells operators what the hosts said.
func (n *Node) tellPrimary(u *admin.Upstreams) {
	if n.primary == nil {
		return
	}
	s := n.primary.State()
	u.Since, u.Found = s.Since, int64(s.Begun)
	for _, h := range s.Hosts {
		u.Hosts = append(u.Hosts, admin.UpstreamHost(h))
	}
}

// An askedHost is one host of the upstream, asked by a connection that is kept for a while. One goroutine uses it.
type askedHost struct {
	node   *Node
	host   int
	kept   keptConnection
	opened time.Duration // when kept was made
}

// ask asks whether it is the primary.
func (h *askedHost) ask(ctx context.Context) (a primary.Answer, err error) {
	now, database := h.node.clock.monotonic(), h.node.askedDatabase()
	if k := &h.kept; k.config == nil || k.config.Database != database || now-h.opened > hostConnection {
		k.close()
		k.config, k.timeout, h.opened = h.config(database), h.node.pauses.timeout, now
	}
	err = h.kept.ask(ctx, func(ctx context.Context, conn *pgx.Conn) (err error) {
		a, err = primary.Ask(ctx, conn)
		return err
	})
	return a, err
}

func (h *askedHost) config(database string) *pgx.ConnConfig {
	n := h.node
	config := named(throughUpstream(n.lease, n.hosts[h.host:h.host+1], func(ctx context.Context) (net.Conn, error) {
		return n.proxy.DialHost(ctx, h.host)
	}), primaryName)
	config.Database = database
	return config
}

// askedDatabase is where the lease role may surely log in: the lease database if sessions to it are answered, else the
// first whose sessions are.
func (n *Node) askedDatabase() string {
	list, _ := n.databases.list()
	names := make([]string, len(list))
	for i, l := range list {
		names[i] = l.name
	}
	if slices.Contains(names, n.lease.Database) {
		return n.lease.Database
	}
	return names[0]
}
