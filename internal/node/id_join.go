package node

import (
	"context"
	"sync"

	"pgflurry/internal/account"
	"pgflurry/internal/config"
	"pgflurry/internal/watch"
	"pgflurry/proxy/idserver"
)

// idMethods are the ways to log in to the ID database.
var idMethods = map[string]idserver.Method{
	config.IDAuthSCRAM: idserver.SCRAM, config.IDAuthCert: idserver.Certificate, config.IDAuthTrust: idserver.Trust,
}

// An idDatabase is the ID database of a node: the server of its sessions, and the parts that the server asks.
type idDatabase struct {
	server   *idserver.Server
	accounts *account.Reader
	segments *idSegments
	real     *watch.Server
}

// openIDDatabase makes it; nil if the settings have none. The list of databases must exist before.
func (n *Node) openIDDatabase() (*idDatabase, error) {
	d := n.settings.IDDatabase
	if d.Name == "" {
		return nil, nil
	}
	id := &idDatabase{
		accounts: account.NewReader(n.lease, askTimeout, n.rules, n.clock.wall),
		segments: &idSegments{databases: n.databases}, real: watch.NewServer(d.Name),
	}
	commit, err := id.accounts.Prepare(d.Accounts(), d.AuthFile, n.settings.Accounts)
	if err != nil {
		return nil, config.UnreadAccounts(err)
	}
	commit()
	n.settings.Accounts = nil // the reader has them
	id.segments.choose(n.settings)
	if id.server, err = idserver.New(n.idSettings(id, d)); err != nil {
		return nil, err
	}
	id.accounts.EndsSessions(id.server.EndSessionsOf)
	return id, nil
}

// idSettings are the settings of its server.
func (n *Node) idSettings(id *idDatabase, d config.IDDatabase) idserver.Settings {
	return idserver.Settings{
		Database: d.Name, IDs: n.supply.queue, Segments: id.segments, Unavailable: n.supply.unavailable,
		Parameters: id.real.Parameters, Accounts: id.accounts.Last, Console: n.supply.console(),
		Rules: idRules(d), Log: n.log,
	}
}

// idRules are those of its server that a reload may change.
func idRules(d config.IDDatabase) idserver.Rules {
	return idserver.Rules{
		Method: idMethods[d.Auth], MaxSessions: d.MaxSessions, IdleTimeout: d.IdleTimeout, MaxAge: d.AuthMaxAge,
	}
}

// prepareIDDatabase is its part of a Reload. Nothing changes before commit, which cannot fail.
func (n *Node) prepareIDDatabase(next config.Settings) (commit func(), err error) {
	id := n.id
	if id == nil {
		return func() {}, nil
	}
	if address := config.Elsewhere(n.Addr()); address != "" && next.IDDatabase.Auth == config.IDAuthTrust {
		return nil, config.TrustedElsewhere(address) // the same check as in openListener
	}
	d := next.IDDatabase
	read, err := id.accounts.Prepare(d.Accounts(), d.AuthFile, next.Accounts)
	if err != nil {
		return nil, config.UnreadAccounts(err)
	}
	return func() {
		_ = id.server.Change(idRules(d)) // complete has checked it
		id.segments.choose(next)
		read()
	}, nil
}

// nextIDDatabase takes from new settings what a Reload may change. The name stays, and whether there is an ID database.
func (n *Node) nextIDDatabase(d config.IDDatabase) config.IDDatabase {
	name := n.settings.IDDatabase.Name
	if name == "" || d.Name == "" {
		return n.current.Load().IDDatabase
	}
	d.Name = name
	return d
}

// realServer is what it knows of the server behind the proxy; nil without an ID database.
func (id *idDatabase) realServer() *watch.Server {
	if id == nil {
		return nil
	}
	return id.real
}

// draining and ended are attributes for the log lines with which the proxy reports the same.
func (id *idDatabase) draining() []any {
	if id == nil {
		return nil
	}
	return []any{"id_sessions", id.server.Stats().Sessions()}
}

func (id *idDatabase) ended() []any {
	if id == nil {
		return nil
	}
	st := id.server.Stats()
	return []any{"id_sessions", st.Opened, "id_session_ids", st.IDs, "id_session_numbers", st.Numbers}
}

// idListening are the attributes for the line that says where clients connect.
func idListening(d config.IDDatabase) []any {
	if d.Name == "" {
		return nil
	}
	return []any{"id_database", d.Name, "id_auth", d.Auth}
}

// drainSessions ends the sessions of the ID database and of the databases behind the proxy. It returns when none is
// left.
func (n *Node) drainSessions(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { n.proxy.Drain(ctx) })
	if n.id != nil {
		both.Go(func() { n.id.server.Drain(ctx) })
	}
	both.Wait()
}
