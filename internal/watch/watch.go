package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/connect"
	"pgflurry/internal/logs"
	"pgflurry/internal/namespace"
)

const (
	// usualLook is the pause between two looks.
	usualLook = 2 * time.Second
	// leastLook is the shortest pause, however often somebody suspects that the database is elsewhere.
	leastLook = 500 * time.Millisecond
	// usualTimeout limits a login, and the question of a look.
	usualTimeout = 5 * time.Second
)

// mostUnasked is how many looks in a row may stay without an answer from an upstream that takes logins. Then the
// permission expires: without an answer nobody knows whether a right was revoked.
const mostUnasked = 3

// connectionName is the default application_name.
const connectionName = "pgflurry serve, permission"

// Settings of a Watch.
type Settings struct {
	// Databases are those to watch. Required.
	Databases *Databases
	// Config is the lease role, through the upstream, where the sessions go: the lease database may be on another
	// server. The watch sets the database. Required.
	Config *pgx.ConnConfig
	// Home is the namespace row of the lease database. Required.
	Home namespace.Namespace
	// Held returns the worker that this process holds, if it holds one. Required.
	Held func() (worker int, held bool)
	// Server gets what the ID database needs to know. Nil: there is no ID database.
	Server *Server
	// Rules of the connections. Their clock, log and reminders are the watch's, too: Now, Log and Suspicion are
	// required.
	Rules connect.Rules
	// Wall dates decisions. Required.
	Wall func() time.Time
	// Look is the pause between two looks; 2 s if zero.
	Look time.Duration
	// Timeout limits a login, and the question of a look; 5 s if zero.
	Timeout time.Duration
}

// A Watch keeps the permissions of the listed databases current.
type Watch struct {
	settings Settings
	ids      *space
}

// New makes a Watch. It asks nothing before Run.
func New(s Settings) *Watch {
	s.Rules.Name = connectionName
	s.Look, s.Timeout = cmp.Or(s.Look, usualLook), cmp.Or(s.Timeout, usualTimeout)
	return &Watch{settings: s, ids: newSpace(s.Home, s.Held)}
}

// Run looks at each database until ctx ends. Each has a goroutine of its own, so one that hangs does not delay the
// others. At the first look, a database of another namespace ends Run with an error if it was listed at the start. If
// it was listed later, it is never answered and the log says so: other databases have open sessions. Later changes only
// change the permission. A permission ends with Run.
func (w *Watch) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var once sync.Once
	var wrong error
	w.settings.Databases.Run(ctx, func(ctx context.Context, l *Listing) {
		defer w.forget(l)
		if err := w.of(l).watch(ctx); err != nil {
			once.Do(func() { wrong = err })
			stop()
		}
	})
	return wrong
}

// forget drops what is known only because somebody looks at the database.
func (w *Watch) forget(l *Listing) {
	l.permit(undecided())
	w.ids.forget(l)
	if s := w.settings.Server; s != nil {
		s.forget(l.name)
	}
}

// databaseWatch keeps the permission of one database current, over one connection.
type databaseWatch struct {
	*Listing
	settings *Settings
	ids      *space
	asker    *connect.Asker
	places   places
	found    *reminders
	mender   mender
	permit   func(decision)
	seen     bool // it was judged at least once
	unasked  int  // looks in a row without an answer
}

func (w *Watch) of(l *Listing) *databaseWatch {
	s := &w.settings
	there := func() *pgx.ConnConfig {
		config := s.Config.Copy()
		config.Database = l.name
		return config
	}
	rules := s.Rules
	rules.Log = rules.Log.With("database", l.name)
	found := newReminders(l.name, s.Rules.Log, rules.Now, cmp.Or(rules.Remind, logs.RemindEvery))
	return &databaseWatch{
		Listing: l, settings: s, ids: w.ids, asker: connect.NewAsker(there, s.Timeout, rules),
		found: found, mender: mender{found: found}, permit: l.permit,
	}
}

func (d *databaseWatch) watch(ctx context.Context) error {
	defer d.asker.Close()
	for {
		suspected := d.settings.Rules.Suspicion.Next()
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
		shortest := min(d.settings.Look, leastLook)
		connect.Sleep(ctx, shortest, nil)
		connect.Sleep(ctx, connect.About(d.settings.Look-shortest), suspected)
		if ctx.Err() != nil {
			return nil
		}
	}
}

// look judges the database and sets its permission.
func (d *databaseWatch) look(ctx context.Context) error {
	var judged namespace.Decision
	origin := d.numbers.Origin()
	err := d.asker.Ask(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if !d.seen {
			if ns, err := namespace.Read(ctx, conn); err == nil {
				if err := d.ids.fits(d.Listing, ns); err != nil {
					return err
				}
			}
		}
		var err error
		if judged, err = namespace.Answerable(ctx, conn, d.settings.Home.ID); err != nil {
			return err
		}
		if judged.IDs.Permit("public.next_snowflake") {
			d.mender.mend(ctx, conn)
		}
		_ = judged.Noted(ctx, conn) // by the next look, if not now
		return d.settings.Server.meet(ctx, conn, d.first, d.found)
	})
	if err != nil {
		return err
	}
	first := !d.seen
	d.seen, d.unasked = true, 0
	d.setOrigin(origin, judged)
	d.compare(&judged)
	conflict := d.ids.conflict(d.Listing, judged.Namespace)
	if conflict != "" {
		withhold(&judged, conflict)
	}
	j := decisionOf(judged, d.settings.Wall())
	if conflict != "" {
		j.conflict, j.idsHint = true, conflictHint
	}
	d.permit(j)
	if first {
		d.settings.Databases.wasJudged(d.Listing)
	}
	// that a rare form is forwarded is no fault, nor is it to have no segments
	fault := slog.LevelWarn
	switch {
	case j.conflict:
		fault = slog.LevelError
	case j.ids == answerAll:
		fault = slog.LevelInfo
	}
	d.found.report(finding{about: aboutIDs, what: idFindings[j.ids], why: j.idsWhy, hint: j.idsHint, fault: fault})
	if !judged.RefusesNew { // else this is why nothing is answered
		d.found.reportServer(judged.NewServer)
	}
	d.found.report(finding{
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
	says := classOf(err)
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
	said := new(pgconn.PgError)
	d.amend(func(j *decision) {
		switch j.away = ""; {
		case says == away:
			j.away = f.why
		case says == refused, errors.As(err, &said): // PostgreSQL was reached
			j.found = d.settings.Wall()
		}
	})
	d.found.report(f)
}

// nothing is the decision of a look that failed: nothing may be answered.
func (d *databaseWatch) nothing(why, hint string) decision {
	before := d.permission.decision.Load()
	return decision{
		idsWhy: why, idsHint: hint, segmentsWhy: why, at: before.at, found: before.found, newServer: before.newServer,
	}
}

// compare ends the answers of a decision while looks do not agree which database this is. The lease may be at another
// one as well: its keeper looks now.
func (d *databaseWatch) compare(j *namespace.Decision) {
	moved, agreed := d.places.seen(j.Place, d.settings.Rules.Now())
	if log := d.found.log; moved {
		log.Error("another database answers at this address than before: it was switched, moved, restored or closed",
			"database", d.name, "place", j.Place,
			"hint", "Calls go to PostgreSQL until all looks agree for a minute. If it was no switch of yours, look at "+
				"the pooler or balancer between.")
		d.settings.Rules.Suspicion.Raise()
	}
	if !agreed {
		withhold(j, fmt.Sprintf("looks have found two databases at this address in the last %v", placeRest))
		d.asker.Close() // a connection always agrees with itself: the next look asks over another one
	}
}

// withhold lets nothing be answered of what a decision permits.
func withhold(j *namespace.Decision, why string) {
	for _, answers := range []*namespace.Answers{&j.IDs, &j.Segments, &j.Others} {
		if len(answers.Names) > 0 {
			*answers = namespace.Answers{Why: why}
		}
	}
}
