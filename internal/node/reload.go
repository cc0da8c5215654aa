package node

import (
	"context"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/config"
	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/proxy"
)

// Reload applies what may change while clients are connected, and ignores all else in s. These may change: Limits,
// Databases, TLS (with what its files hold), IDDatabase (except its name) and the password in Lease. New
// connections use the new password. Open sessions stay, but calls in a database that is no longer listed are relayed at
// once. Connections that the node keeps are replaced at their next use. After an error nothing has changed.
func (n *Node) Reload(s config.Settings) error {
	n.reloading.Lock()
	defer n.reloading.Unlock()
	next := n.settings
	next.Limits, next.TLS, next.Keys, next.Databases = s.Limits, s.TLS, s.Keys, s.Databases
	if s.LeaseDatabaseAlone {
		next.Databases = nil // another lease database needs a restart, so its name is not taken either
	}
	next.IDDatabase = n.nextIDDatabase(s.IDDatabase)
	if s.IDDatabase.Name != "" {
		next.Accounts = s.Accounts
	}
	if s.Lease.SameButPassword(next.Lease) {
		next.Lease = s.Lease
	}
	if err := next.Complete(); err != nil {
		return fault.WithKind(fault.Usage, err)
	}
	changed := n.proxyRules(next)
	list, err := n.databases.Prepare(next.Databases)
	if err != nil {
		return err
	}
	ids, err := n.prepareIDDatabase(next)
	if err != nil {
		return fault.WithKind(fault.Usage, err)
	}
	if err := n.proxy.Change(changed); err != nil {
		return err
	}
	list()
	ids()
	n.password.Store(&next.Lease.Config.Password)
	if before := n.current.Load(); before.TLS != next.TLS || before.IDDatabase != next.IDDatabase {
		warnOfPlainText(next, n.Addr(), n.log)
	}
	next.SecretFiles = s.SecretFiles
	warnOfExposed(next, n.log)
	n.logLimits(next, changed)
	next.Accounts = nil // the reader has them
	n.current.Store(&next)
	n.phase.tookOver(next, n.clock.wall())
	n.rules.Suspicion.Raise()
	return nil
}

// withPassword makes every copy of a connection's configuration log in with the password that is in force when it
// connects. pgx reads the password after this hook, from the same value.
func (n *Node) withPassword(way *pgx.ConnConfig) *pgx.ConnConfig {
	n.password.Store(&way.Password)
	password := func(context.Context) (string, error) { return *n.password.Load(), nil }
	refused := n.readPassword
	if n.settings.PasswordCommand != "" {
		command := connect.NewPasswordCommand(n.settings.PasswordCommand, n.log)
		password, refused = command.Password, command.Forget
	}
	closes := way.OnPgError
	way.OnPgError = func(conn *pgconn.PgConn, err *pgconn.PgError) bool {
		if strings.HasPrefix(err.Code, "28") { // the next connection uses another password
			refused()
		}
		return closes(conn, err)
	}
	way.AfterNetConnect = func(ctx context.Context, config *pgconn.Config, conn net.Conn) (_ net.Conn, err error) {
		config.Password, err = password(ctx)
		return conn, err
	}
	return way
}

// readPassword looks for another password of the lease role where the refused one is from.
func (n *Node) readPassword() {
	if n.settings.ReadLease == nil {
		return
	}
	n.reloading.Lock()
	defer n.reloading.Unlock()
	switch lease, err := n.settings.ReadLease(); {
	case err != nil:
		n.log.Warn("the password of the lease role was refused, and cannot be read again",
			append([]any{"cause", err}, fault.HintField(fault.HintOf(err))...)...)
	case !lease.SameButPassword(n.settings.Lease): // that needs a restart
	case lease.Config.Password != *n.password.Load():
		n.password.Store(&lease.Config.Password)
		n.log.Info("the password of the lease role was refused, and is read again: it has changed")
	}
}

// proxySettings are the settings of the proxy.
func (n *Node) proxySettings(s config.Settings) proxy.Settings {
	p := proxy.Settings{
		Rules:    n.proxyRules(s),
		Upstream: n.upstream.hosts, Primary: n.upstream.primaryHost(), Log: n.log,
		IDs: n.supply.queue, Permission: n.databases.PermissionOf, Segments: n.numbersOf, WhyNot: whyNot,
		UpstreamLost: n.rules.Suspicion.Raise, UnixUpstreamTrustsClients: s.UnixUpstreamTrustsClients,
	}
	if n.id != nil {
		p.Inside = n.id.server
	}
	return p
}

// proxyRules are those of the proxy that a reload may change.
func (n *Node) proxyRules(s config.Settings) (r proxy.Rules) {
	asked := 0
	if n.upstream.primary != nil {
		asked = len(n.upstream.hosts)
	}
	applyLimits(s.Limits, &r, len(s.Databases), asked, descriptors())
	applyTLS(s, &r)
	warnOfExpired(s, n.log)
	return r
}

// numbersOf is what a session to a database draws its numbers from; nil: nothing.
func (n *Node) numbersOf(database string) proxy.Segments {
	if numbers := n.databases.NumbersOf(database); numbers != nil {
		return numbers
	}
	return nil
}

// logLimits logs the limits and what TLS does not protect, if they have changed.
func (n *Node) logLimits(s config.Settings, p proxy.Rules) {
	before := n.current.Load()
	if before == nil || before.Limits != s.Limits || len(before.Databases) != len(s.Databases) {
		n.log.Info("limits on clients", "clients", limit(p.MaxClients), "max_connections", limit(p.MaxSessions),
			"max_logins", limit(p.MaxLogins), "max_logins_per_address", limit(p.MaxLoginsPerAddress),
			"max_upstream_logins", limit(p.MaxUpstreamLogins))
	}
	if before == nil || before.TLS != s.TLS {
		warnOfTLS(s, n.log)
	}
}
