package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/namespace"
	"pgflurry/proxy"
)

// watchPauses are the lengths of time of a watch over the databases.
type watchPauses struct {
	look    time.Duration // between two looks at a database
	timeout time.Duration // bounds a login, and the question of a look
	remind  time.Duration // between two reminders of what is wrong
}

func usualPauses() watchPauses {
	return watchPauses{look: 2 * time.Second, timeout: 5 * time.Second, remind: time.Minute}
}

// mostUnasked is how many looks in a row may bring no answer from an upstream that takes logins. Then the permission expires: a right
// that nobody can confirm may have been taken away.
const mostUnasked = 3

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

// watcher keeps the permissions of the listed databases current. It looks where the sessions go, which is the upstream: the
// lease database may be on another server.
type watcher struct {
	settings    proxySettings
	config      *pgx.ConnConfig // of the lease role, through the upstream
	id          string          // namespace
	permissions *permissions

	mu        sync.Mutex
	functions map[int]string // by function worker, the database
}

// watch looks again and again until ctx ends, at each database by itself: one that hangs delays no other. A listed database of another
// namespace is an error at the first look; what changes later only changes the permission.
func (w *watcher) watch(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var looking sync.WaitGroup
	wrong := make(chan error, len(w.settings.databases))
	for _, name := range w.settings.databases {
		looking.Go(func() {
			if err := w.of(name).watch(ctx); err != nil {
				wrong <- err
				stop()
			}
		})
	}
	looking.Wait()
	select {
	case err := <-wrong:
		return err
	default:
		return nil
	}
}

// databaseWatch keeps the permission of one database current, by one connection.
type databaseWatch struct {
	*watcher
	name    string
	kept    keptConnection
	permit  func(ids, segments proxy.Level)
	seen    bool // it was judged at least once
	unasked int  // looks in a row without an answer
	told    map[string]*telling
}

func (w *watcher) of(name string) *databaseWatch {
	config := w.config.Copy()
	config.Database = name
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = lookName
	}
	permission := w.permissions.of(name)
	tells := func() *telling { return &telling{clock: w.settings.clock.wall, remind: w.settings.pauses.remind} }
	return &databaseWatch{
		watcher: w, name: name, kept: keptConnection{config: config, timeout: w.settings.pauses.timeout},
		permit: func(ids, segments proxy.Level) {
			permission.Set(ids)
			permission.SetSegments(segments)
		},
		told: map[string]*telling{aboutIDs: tells(), aboutSegments: tells()},
	}
}

func (d *databaseWatch) watch(ctx context.Context) error {
	defer d.kept.close()
	for {
		err := d.look(ctx)
		var wrong *wrongDatabase
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &wrong):
			return err
		case err != nil:
			d.unanswered(err)
		}
		pause := d.settings.pauses.look
		sleep(ctx, pause+rand.N(pause/10))
		if ctx.Err() != nil {
			return nil
		}
	}
}

// look judges the database and sets its permission.
func (d *databaseWatch) look(ctx context.Context) error {
	var judged, segments namespace.Answers
	err := d.kept.ask(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if !d.seen {
			if ns, err := namespace.Read(ctx, conn); err == nil {
				if err := d.fits(d.name, ns); err != nil {
					return err
				}
			}
		}
		var err error
		judged, segments, err = namespace.Answerable(ctx, conn, d.id)
		return err
	})
	if err != nil {
		return err
	}
	d.seen, d.unasked = true, 0
	ids, numbers := levelOf(judged), levelOf(segments)
	d.permit(ids, numbers)
	d.tell(news{about: aboutIDs, what: findings[ids], why: judged.Why, fault: slog.LevelWarn})
	d.tell(news{about: aboutSegments, what: segmentFindings[numbers], why: segments.Why, fault: slog.LevelInfo}) // to have none is no fault
	return nil
}

// unanswered is a look that has judged nothing. A database that is away keeps its permission: IDs go on. A refusal ends it at once,
// and three looks in a row end it that upstream could have answered.
func (d *databaseWatch) unanswered(err error) {
	n := news{about: aboutIDs, what: "database could not be looked at", why: err.Error(), hint: lookHint(err), fault: slog.LevelWarn}
	says := meaningOf(err)
	if says == unasked {
		d.unasked++
	}
	switch {
	case says == refused:
		d.permit(proxy.AnswerNothing, proxy.AnswerNothing)
	case d.unasked >= mostUnasked:
		d.permit(proxy.AnswerNothing, proxy.AnswerNothing)
		n.what = fmt.Sprintf("the permission has expired, for %d looks in a row had no answer: %s", mostUnasked, findings[proxy.AnswerNothing])
		n.kind = n.what // whatever each look fails of
	}
	d.tell(n)
}

// findings are what a look at a database comes to.
var findings = map[proxy.Level]string{
	proxy.AnswerNothing:   "calls are relayed to PostgreSQL, none is answered from memory",
	proxy.AnswerQualified: "only calls of public.next_snowflake() are answered from memory",
	proxy.AnswerAll:       "calls are answered from memory",
}

// The subjects of news about a database.
const (
	aboutIDs      = "IDs"
	aboutSegments = "segments"
)

// news is what there is to say about a database.
type news struct {
	about           string     // what it replaces is the last news about the same
	what, why, hint string     // why and hint may be empty
	kind            string     // told once; empty: what and why
	fault           slog.Level // of what has a why
}

// tell logs what has changed, and reminds of what stays wrong.
func (d *databaseWatch) tell(n news) {
	level, fields := slog.LevelInfo, []any{"database", d.name}
	if n.why != "" {
		level, fields = n.fault, append(fields, "cause", n.why)
	}
	if n.kind == "" {
		n.kind = n.what + n.why
	}
	now, since := d.told[n.about].due(n.kind, level >= slog.LevelWarn)
	if !now {
		return
	}
	d.settings.log.Log(context.Background(), level, n.what, withHint(append(fields, since...), n.hint)...)
}

// withHint adds a hint where there is one.
func withHint(fields []any, hint string) []any {
	if hint == "" {
		return fields
	}
	return append(fields, "hint", hint)
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
	w.mu.Lock()
	defer w.mu.Unlock()
	if other, taken := w.functions[ns.FunctionWorker]; taken && other != name {
		return &wrongDatabase{
			why:  fmt.Sprintf("the functions of databases %q and %q have the same worker %d: their IDs repeat each other's", other, name, ns.FunctionWorker),
			hint: "One of them was restored, or joined before its home was. Give it a worker of its own: pgflurry migrate up --database URL --join LEASE_URL.",
		}
	}
	w.functions[ns.FunctionWorker] = name
	return nil
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
