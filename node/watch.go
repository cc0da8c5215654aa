package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/fresh"
	"pgflurry/hint"
	"pgflurry/logs"
	"pgflurry/namespace"
	"pgflurry/outcome"
)

// pauses are the lengths of time of a watch over the databases.
type pauses struct {
	look    time.Duration // between two looks at a database
	mend    time.Duration // between two checks of unreadable sequences
	timeout time.Duration // limits a login, and the question of a look
	remind  time.Duration // between two reminders of a fault
}

func usualPauses() pauses {
	return pauses{look: 2 * time.Second, mend: 10 * time.Second, timeout: 5 * time.Second, remind: logs.RemindEvery}
}

// leastLook is the shortest pause between two looks, however often somebody suspects that the database is elsewhere.
const leastLook = 500 * time.Millisecond

// mostUnasked is how many looks in a row may stay without an answer from an upstream that takes logins. Then the
// permission expires: without an answer nobody knows whether a right was revoked.
const mostUnasked = 3

// lookName is the default application_name of the connections that look.
const lookName = "pgflurry serve, permission"

// watcher keeps the permissions of the listed databases current. It looks through the upstream, where the sessions go:
// the lease database may be on another server.
type watcher struct {
	databases *databases
	config    *pgx.ConnConfig // the lease role, through the upstream
	id        string          // of the namespace
	pauses    pauses
	clock     clock
	log       *slog.Logger
	server    *realServer // nil: there is no ID database
	rules     fresh.Rules // of the connections

	mu        sync.Mutex
	functions map[int]*listing // the listed database of each function worker
}

func (n *Node) newWatcher(ns namespace.Namespace) *watcher {
	return &watcher{
		databases: n.databases, config: n.look, id: ns.ID,
		pauses: n.pauses, clock: n.clock, log: n.log, functions: make(map[int]*listing), server: n.realServer(),
		rules: n.rules.Named(lookName),
	}
}

// watch looks at each database until ctx ends. Each has a goroutine of its own, so one that hangs does not delay the
// others. At the first look, a database of another namespace ends watch with an error if it was listed at the start. If
// it was listed later, it is never answered and the log says so: other databases have open sessions. Later changes only
// change the permission.
func (w *watcher) watch(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var once sync.Once
	var wrong error
	w.databases.run(ctx, func(ctx context.Context, l *listing) {
		defer w.forget(l)
		if err := w.of(l).watch(ctx); err != nil {
			once.Do(func() { wrong = err })
			stop()
		}
	})
	return wrong
}

// databaseWatch keeps the permission of one database current, over one connection.
type databaseWatch struct {
	*watcher
	*listing
	asker      *fresh.Asker
	places     places
	permit     func(judgement)
	seen       bool                      // it was judged at least once
	unasked    int                       // looks in a row without an answer
	lastLogged map[string]*logs.Reminder // by subject
	mendDue    time.Duration             // when to check the sequences again, by the monotonic clock
}

func (w *watcher) of(l *listing) *databaseWatch {
	there := func() *pgx.ConnConfig {
		config := w.config.Copy()
		config.Database = l.name
		return config
	}
	rules := w.rules
	rules.Log = w.log.With("database", l.name)
	reminded := func() *logs.Reminder { return &logs.Reminder{Every: w.pauses.remind} }
	return &databaseWatch{
		watcher: w, listing: l, asker: fresh.NewAsker(there, w.pauses.timeout, rules),
		permit: l.permit,
		lastLogged: map[string]*logs.Reminder{
			aboutIDs: reminded(), aboutSegments: reminded(), aboutHidden: reminded(),
			aboutSequences: reminded(), aboutGuards: reminded(),
		},
	}
}

func (d *databaseWatch) watch(ctx context.Context) error {
	defer d.asker.Close()
	for {
		suspected := d.rules.Suspicion.Next()
		err := d.look(ctx)
		var wrong *wrongDatabase
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &wrong) && d.first:
			return err
		case err != nil:
			d.unanswered(err)
		}
		shortest := min(d.pauses.look, leastLook)
		fresh.Rest(ctx, shortest, nil)
		fresh.Rest(ctx, fresh.About(d.pauses.look-shortest), suspected)
		if ctx.Err() != nil {
			return nil
		}
	}
}

// look judges the database and sets its permission.
func (d *databaseWatch) look(ctx context.Context) error {
	var judged namespace.Judgement
	origin := d.numbers.Origin()
	err := d.asker.Ask(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if !d.seen {
			if ns, err := namespace.Read(ctx, conn); err == nil {
				if err := d.fits(d.listing, ns); err != nil {
					return err
				}
			}
		}
		var err error
		if judged, err = namespace.Answerable(ctx, conn, d.id); err != nil {
			return err
		}
		if judged.IDs.Permit("public.next_snowflake") {
			d.mend(ctx, conn)
		}
		return d.meet(ctx, conn)
	})
	if err != nil {
		return err
	}
	first := !d.seen
	d.seen, d.unasked = true, 0
	d.tellOrigin(origin, judged)
	d.compare(&judged)
	j := judgementOf(judged, d.clock.wall())
	d.permit(j)
	if first {
		d.databases.wasJudged(d.listing)
	}
	// that a rare form is forwarded is no fault, nor is it to have no segments
	fault := slog.LevelWarn
	if j.ids == answerAll {
		fault = slog.LevelInfo
	}
	d.report(finding{about: aboutIDs, what: idFindings[j.ids], why: j.idsWhy, fault: fault})
	d.report(finding{
		about: aboutSegments, what: segmentFindings[j.segments], why: j.segmentsWhy, fault: slog.LevelInfo,
	})
	return nil
}

// unanswered handles a look that could not judge. A database that is away keeps its permission, so IDs go on. A refusal
// ends it at once. Three looks in a row without an answer end it, too, if the upstream takes logins.
func (d *databaseWatch) unanswered(err error) {
	f := finding{
		about: aboutIDs, what: "database could not be looked at", why: err.Error(), hint: lookHint(err),
		fault: slog.LevelWarn,
	}
	if wrong := new(wrongDatabase); errors.As(err, &wrong) {
		f.what, f.fault = idFindings[answerNothing], slog.LevelError
	}
	says := meaningOf(err)
	if says == unasked {
		d.unasked++
	}
	switch {
	case says == refused:
		d.permit(d.nothing(f.why, f.hint))
	case d.unasked >= mostUnasked:
		expired := fmt.Sprintf("the permission has expired, for %d looks in a row had no answer", mostUnasked)
		d.permit(d.nothing(expired+": "+f.why, f.hint))
		f.what = expired + ": " + idFindings[answerNothing]
		f.kind = f.what // one kind, whatever each look fails of
	case !d.seen: // nothing is permitted yet; this says why
		d.say(d.nothing(f.why, f.hint))
	}
	missing := ""
	if says == away {
		missing = f.why
	}
	d.tellAway(missing)
	d.report(f)
}

// nothing is the judgement of a look that failed: nothing may be answered.
func (d *databaseWatch) nothing(why, hint string) judgement {
	return judgement{idsWhy: why, idsHint: hint, segmentsWhy: why, at: d.permission.judgement.Load().at}
}

// forget frees the function worker of a database that is no longer watched. If the same database was listed again
// meanwhile, its place stays: that is another listing.
func (w *watcher) forget(l *listing) {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.functions, func(_ int, of *listing) bool { return of == l })
	if w.server != nil {
		w.server.forget(l.name)
	}
}

// wrongDatabase is a fault of a listed database that does not pass by itself.
type wrongDatabase struct{ error }

func (e *wrongDatabase) Unwrap() error { return e.error }

// Outcome says that the database is not what the namespace needs.
func (e *wrongDatabase) Outcome() outcome.Kind { return outcome.NotInPlace }

// fits refuses a database whose IDs may repeat those of the namespace or of another listed database.
func (w *watcher) fits(l *listing, ns namespace.Namespace) error {
	if ns.ID != w.id {
		return &wrongDatabase{hint.With(
			fmt.Errorf("database %q carries namespace %s, but the lease database carries %s: "+
				"their IDs may repeat each other's", l.name, ns.ID, w.id),
			"Leave the database out of --databases, or make it part of the namespace before it holds IDs: "+
				"pgflurry migrate up --database URL --join LEASE_URL.")}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if other, taken := w.functions[ns.FunctionWorker]; taken && other.name != l.name {
		return &wrongDatabase{hint.With(
			fmt.Errorf("the functions of databases %q and %q have the same worker %d: "+
				"their IDs repeat each other's", other.name, l.name, ns.FunctionWorker),
			"One of them was restored, or joined before its home was. Give it a worker of its own: "+
				"pgflurry migrate up --database URL --join LEASE_URL.")}
	}
	w.functions[ns.FunctionWorker] = l
	return nil
}
