package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/lease"
	"pgflurry/namespace"
	"pgflurry/proxy"
)

const (
	// lookTimeout bounds one look at a database.
	lookTimeout = 5 * time.Second
	// lookAgain is the pause between two looks at a database that may be answered; retryFirst and retryMost bound the pause
	// after a look that failed.
	lookAgain  = 30 * time.Second
	retryFirst = 500 * time.Millisecond
	retryMost  = 10 * time.Second
	// layoutWarning is how long before a layout's end serve and migrate begin to warn: a new namespace has to be planned.
	// pgflurry.snowflake_lifetime() says the same in SQL.
	layoutWarning = 10 * 365 * 24 * time.Hour
)

// permissions holds one Permission per database whose sessions may be answered.
type permissions struct{ byDatabase map[string]*proxy.Permission }

func newPermissions(databases []string) *permissions {
	p := &permissions{byDatabase: make(map[string]*proxy.Permission, len(databases))}
	for _, name := range databases {
		p.byDatabase[name] = &proxy.Permission{}
	}
	return p
}

func (p *permissions) of(database string) *proxy.Permission { return p.byDatabase[database] }

// findNamespace reads the namespace of the lease database, waiting for what may come: a server that is down, a migration
// that was not run yet, a copy that is not told apart yet.
func (s proxySettings) findNamespace(ctx context.Context, config *pgx.ConnConfig) (namespace.Namespace, error) {
	var told string
	for pause := retryFirst; ; pause = min(2*pause, retryMost) {
		var ns namespace.Namespace
		err := look(ctx, config, func(ctx context.Context, conn *pgx.Conn) (err error) {
			ns, err = namespace.Read(ctx, conn)
			return err
		})
		if err == nil {
			if why, copied := ns.Copied(); copied {
				err = fmt.Errorf(`%s: run "pgflurry migrate up --database URL" on it, which says how to go on`, why)
			}
		}
		switch {
		case ctx.Err() != nil:
			return ns, nil
		case err == nil:
			return ns, s.agrees(ns)
		case err.Error() != told:
			told = err.Error()
			s.log.Warn("no worker is leased: everything is relayed to PostgreSQL", withHint([]any{"cause", connectError(err)}, hintOf(connectError(err)))...)
		}
		sleep(ctx, pause)
	}
}

// agrees refuses settings that the namespace does not allow.
func (s proxySettings) agrees(ns namespace.Namespace) error {
	if err := ns.Serves(); err != nil {
		return err
	}
	if ns.Disposable {
		s.log.Warn("the ID space is disposable, FOR TESTS ONLY: copies of this database give the same IDs", "database", ns.Database)
	}
	if s.window > ns.MaxWindow {
		return fmt.Errorf("--window is %v, but the namespace's max_window is %v; choose at most that", s.window, ns.MaxWindow)
	}
	if end := ns.Layout.End(); end.Sub(s.clock.wall()) < layoutWarning {
		s.log.Warn("the timestamps of the layout end soon: plan a namespace with another layout", "layout", ns.Layout, "end", end)
	}
	return nil
}

// workers is the range that --datacenter leaves.
func (s proxySettings) workers(ns namespace.Namespace) (lease.Range, error) {
	if s.datacenter == "" {
		return lease.Range{}, nil
	}
	number, err := strconv.Atoi(s.datacenter)
	if err != nil {
		return lease.Range{}, err // check has looked
	}
	lowest, highest, err := ns.Layout.WorkersOf(number)
	switch {
	case err != nil && ns.Layout.DatacenterBits > 0:
		return lease.Range{}, hint(fmt.Errorf("--%w", err), "Choose one of these; a layout cannot change later.")
	case err != nil:
		return lease.Range{}, hint(fmt.Errorf("--%w", err), "A layout with datacenters is chosen when the namespace is made: pgflurry migrate up --layout datacenter. It cannot change later.")
	case highest < ns.DatabaseWorkers:
		return lease.Range{}, hint(fmt.Errorf("--datacenter %d has workers %d to %d, but workers 0 to %d are for functions of databases", number, lowest, highest, ns.DatabaseWorkers-1),
			"Choose a higher datacenter.")
	}
	return lease.Range{Lowest: lowest, Highest: highest}, nil
}

// watcher keeps the permissions of the listed databases current. It looks where the sessions go, which is the upstream: the
// lease database may be on another server.
type watcher struct {
	settings    proxySettings
	config      *pgx.ConnConfig // of the lease role, through the upstream
	id          string          // namespace
	permissions *permissions
	told        map[string]string // by database and about what, what was logged last
	functions   map[int]string    // by function worker, the database
	seen        map[string]bool   // databases that were judged at least once
}

// watch looks again and again until ctx ends. A listed database of another namespace is an error at the first look; what
// changes later only changes the permission.
func (w *watcher) watch(ctx context.Context) error {
	for pause := retryFirst; ; {
		next := lookAgain
		for _, name := range w.settings.databases {
			err := w.look(ctx, name)
			var wrong *wrongDatabase
			switch {
			case ctx.Err() != nil:
				return nil
			case errors.As(err, &wrong):
				return err
			case err != nil:
				// A database that is away keeps its permission: IDs go on. One that answers with a refusal does not.
				if refuses(err) {
					w.permissions.of(name).Set(proxy.AnswerNothing)
					w.permissions.of(name).SetSegments(proxy.AnswerNothing)
				}
				w.tellOnce(news{database: name, what: "database could not be looked at", why: connectError(err).Error(), hint: lookHint(err), fault: slog.LevelWarn})
				next = pause
			}
		}
		pause = min(2*pause, retryMost)
		if next == lookAgain {
			pause = retryFirst
		}
		sleep(ctx, next+rand.N(next/10))
		if ctx.Err() != nil {
			return nil
		}
	}
}

// look judges one database and sets its permission.
func (w *watcher) look(ctx context.Context, name string) error {
	config := w.config.Copy()
	config.Database = name
	var judged, segments namespace.Answers
	err := look(ctx, config, func(ctx context.Context, conn *pgx.Conn) error {
		if !w.seen[name] {
			if ns, err := namespace.Read(ctx, conn); err == nil {
				if err := w.fits(name, ns); err != nil {
					return err
				}
			}
		}
		var err error
		judged, segments, err = namespace.Answerable(ctx, conn, w.id)
		return err
	})
	if err != nil {
		return err
	}
	w.seen[name] = true
	level := levelOf(judged)
	w.permissions.of(name).Set(level)
	w.tellOnce(news{database: name, what: findings[level], why: judged.Why, fault: slog.LevelWarn})
	level = levelOf(segments)
	w.permissions.of(name).SetSegments(level)
	w.tellOnce(news{database: name, about: "segments", what: segmentFindings[level], why: segments.Why, fault: slog.LevelInfo}) // to have none is no fault
	return nil
}

// findings are what a look at a database comes to.
var findings = map[proxy.Level]string{
	proxy.AnswerNothing:   "calls are relayed to PostgreSQL, none is answered from memory",
	proxy.AnswerQualified: "only calls of public.next_snowflake() are answered from memory",
	proxy.AnswerAll:       "calls are answered from memory",
}

// news is what there is to say about a database.
type news struct {
	database, about string     // what it replaces is the last news about the same
	what, why, hint string     // why and hint may be empty
	fault           slog.Level // of what has a why
}

// tellOnce logs what has changed about a database.
func (w *watcher) tellOnce(n news) {
	key := n.database + " " + n.about
	if w.told[key] == n.what+n.why {
		return
	}
	w.told[key] = n.what + n.why
	level, fields := slog.LevelInfo, []any{"database", n.database}
	if n.why != "" {
		level, fields = n.fault, append(fields, "cause", n.why)
	}
	w.settings.log.Log(context.Background(), level, n.what, withHint(fields, n.hint)...)
}

// withHint adds a hint where there is one.
func withHint(fields []any, hint string) []any {
	if hint == "" {
		return fields
	}
	return append(fields, "hint", hint)
}

// throughUpstream is the lease role's way to the upstream: the one that sessions take, TLS included.
func throughUpstream(config *pgx.ConnConfig, network, upstream string, dial func(context.Context) (net.Conn, error)) *pgx.ConnConfig {
	there := config.Copy()
	there.Fallbacks, there.TLSConfig, there.ValidateConnect = nil, nil, nil
	there.Host, there.Port = upstream, 0
	if network == "tcp" {
		host, port, err := net.SplitHostPort(upstream)
		if number, bad := strconv.ParseUint(port, 10, 16); err == nil && bad == nil {
			there.Host, there.Port = host, uint16(number)
		}
	}
	there.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
	there.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	return there
}

// refuses says that a server answered, and did not merely ask to come again later.
func refuses(err error) bool {
	var said *pgconn.PgError
	return errors.As(err, &said) && !slices.Contains([]string{"57P01", "57P02", "57P03", "53300"}, said.Code)
}

func levelOf(a namespace.Answers) proxy.Level {
	switch {
	case !a.All:
		return proxy.AnswerNothing
	case !a.Unqualified:
		return proxy.AnswerQualified
	}
	return proxy.AnswerAll
}

// wrongDatabase is a finding about a listed database that no waiting mends.
type wrongDatabase struct{ why, hint string }

func (e *wrongDatabase) Error() string { return e.why }

// Hint says what to do.
func (e *wrongDatabase) Hint() string { return e.hint }

// fits refuses a database whose IDs may repeat those of the namespace or of another listed database.
func (w *watcher) fits(name string, ns namespace.Namespace) error {
	if ns.ID != w.id {
		return &wrongDatabase{
			why:  fmt.Sprintf("database %q carries namespace %s, but the lease database carries %s: their IDs may repeat each other's", name, ns.ID, w.id),
			hint: "Leave the database out of --databases, or make it part of the namespace before it holds IDs: pgflurry migrate up --database URL --join LEASE_URL.",
		}
	}
	if other, taken := w.functions[ns.FunctionWorker]; taken && other != name {
		return &wrongDatabase{
			why:  fmt.Sprintf("the functions of databases %q and %q have the same worker %d: their IDs repeat each other's", other, name, ns.FunctionWorker),
			hint: "One of them was restored, or joined before its home was. Give it a worker of its own: pgflurry migrate up --database URL --join LEASE_URL.",
		}
	}
	w.functions[ns.FunctionWorker] = name
	return nil
}

// look opens a connection for one question.
func look(ctx context.Context, config *pgx.ConnConfig, ask func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return ask(ctx, conn)
}

func hintOf(err error) string {
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		return hinted.Hint()
	}
	return ""
}

// lookHint says what to do about a database that cannot be looked at.
func lookHint(err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) && said.Code == "28000" && strings.Contains(said.Message, "no encryption") {
		return "Give the proxy --upstream-tls require, or verify-full with --upstream-tls-ca."
	}
	if advice := hintOf(connectError(err)); advice != "" {
		return advice
	}
	return hintOf(err)
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
