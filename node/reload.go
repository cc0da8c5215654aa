package node

import (
	"context"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/connstring"
	"pgflurry/outcome"
	"pgflurry/proxy"
)

// Reload takes over from s what may change while clients are connected: Limits, TLS, whose files are read again,
// Databases, IDDatabase but for its name, and the password in LeaseDatabase, which the next connections use. All else
// in s is left alone. Sessions that are open stay as they are, except that calls in a database that is listed no more
// are relayed at once. On an error nothing has changed.
func (n *Node) Reload(s Settings) error {
	n.reloading.Lock()
	defer n.reloading.Unlock()
	next := n.settings
	next.Limits, next.TLS, next.Databases = s.Limits, s.TLS, s.Databases
	next.IDDatabase = n.nextIDDatabase(s.IDDatabase)
	if connstring.SameButPassword(s.LeaseDatabase, next.LeaseDatabase) {
		next.LeaseDatabase = s.LeaseDatabase
	}
	way, err := next.complete()
	if err != nil {
		return outcome.As(outcome.Usage, err)
	}
	changed, err := n.proxySettings(next)
	if err != nil {
		return err
	}
	list, err := n.databases.prepare(next.Databases)
	if err != nil {
		return err
	}
	ids, err := n.prepareIDDatabase(next)
	if err != nil {
		return outcome.As(outcome.Usage, err)
	}
	if err := n.proxy.Change(changed); err != nil {
		return err
	}
	list()
	ids()
	n.password.Store(&way.Password)
	if before := n.current.Load(); before.TLS != next.TLS || before.IDDatabase != next.IDDatabase {
		n.warnOfPlainText(next)
	}
	n.tellLimits(next, changed)
	n.current.Store(&next)
	n.tookOver(next.TLS, changed)
	return nil
}

// withPassword makes every copy of a way to a database log in with the password that is in force when it connects. pgx
// reads it behind this call, from the very value that it hands over.
func (n *Node) withPassword(way *pgx.ConnConfig) *pgx.ConnConfig {
	n.password.Store(&way.Password)
	way.AfterNetConnect = func(_ context.Context, config *pgconn.Config, conn net.Conn) (net.Conn, error) {
		config.Password = *n.password.Load()
		return conn, nil
	}
	return way
}

// proxySettings are those of the proxy. The files of TLS are read.
func (n *Node) proxySettings(s Settings) (proxy.Settings, error) {
	p := proxy.Settings{
		Upstream: n.hosts, Reign: n.reign(), Log: n.log,
		IDs: n.ids, Permission: n.databases.permissionOf, Segments: n.databases.numbersOf, WhyNot: whyNot,
	}
	if n.id != nil {
		p.Inside = n.id.server
	}
	asked := 0
	if n.primary != nil {
		asked = len(n.hosts)
	}
	s.Limits.apply(&p, len(s.Databases), asked, descriptors())
	err := s.TLS.apply(&p)
	return p, outcome.As(outcome.Usage, err)
}

// tellLimits logs what holds now, and what TLS does not protect, where that is not as it was.
func (n *Node) tellLimits(s Settings, p proxy.Settings) {
	before := n.current.Load()
	if before == nil || before.Limits != s.Limits || len(before.Databases) != len(s.Databases) {
		n.log.Info("limits on clients", "clients", limit(p.MaxClients), "max_connections", limit(p.MaxSessions),
			"max_logins", limit(p.MaxLogins), "max_logins_per_address", limit(p.MaxLoginsPerAddress))
	}
	if before == nil || before.TLS != s.TLS {
		s.TLS.warn(n.log, p.Upstream)
	}
}
