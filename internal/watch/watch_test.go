package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/internal/connect"
	"pgflurry/internal/namespace"
	"pgflurry/tests/support/scripted"
)

// levels records what a watch permits.
type levels struct{ ids []level }

func (l *levels) permit(j decision) { l.ids = append(l.ids, j.ids) }

// settingsOf are those of a watch over one database, with its log.
func settingsOf(t *testing.T, config *pgx.ConnConfig) (Settings, *bytes.Buffer) {
	t.Helper()
	log, start := &bytes.Buffer{}, time.Now()
	return Settings{
		Databases: listOf(t, "app"), Config: config, Wall: time.Now,
		Rules: connect.Rules{
			Suspicion: new(connect.Suspicion), Log: slog.New(slog.NewTextHandler(log, nil)),
			Now: func() time.Duration { return time.Since(start) },
		},
	}, log
}

// watchOf is a watch over one database.
func watchOf(s Settings) (*databaseWatch, *levels) {
	permitted := &levels{}
	d := New(s).of(s.Databases.listed[0])
	d.permit = permitted.permit
	return d, permitted
}

func someConfig(t *testing.T, address string) *pgx.ConnConfig {
	t.Helper()
	config, err := connect.Parse("lease-database", "postgres://u@"+address+"/app?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func login(err error) error  { return &connect.LoginError{Cause: err} }
func broken(err error) error { return &connect.BrokenError{Cause: err} }

func TestInvariant1WhatALookFailsOfDecidesAboutThePermission(t *testing.T) {
	said := func(code string) error { return &pgconn.PgError{Severity: "FATAL", Code: code} }
	for _, c := range []struct {
		name string
		err  error
		ends int // the look that ends the permission; 0: none of ten
	}{
		{"a closed port", login(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), 0},
		{"a login without an answer", login(context.DeadlineExceeded), 0},
		{"a login that is cut", login(io.ErrUnexpectedEOF), 0},
		{"a server that starts", login(said("57P03")), 0},
		{"a server that stops", broken(said("57P01")), 0},
		{"a server that has crashed", broken(said("57P02")), 0},
		{"too many connections", login(said("53300")), mostUnasked},
		{"a pooler without a server", login(said("08P01")), mostUnasked},
		{"an answer that does not come after a login", broken(context.DeadlineExceeded), mostUnasked},
		{"a statement timeout", said("57014"), mostUnasked},
		{"a lock", said("55P03"), mostUnasked},
		{"a wrong password", login(said("28P01")), 1},
		{"no such database", login(said("3D000")), 1},
		{"a right that is missing", fmt.Errorf("reading: %w", said("42501")), 1},
		{"an older schema", &namespace.OlderError{Database: "app"}, 1},
		{"an answer that makes no sense", errors.New("the layout is unknown"), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, log := settingsOf(t, someConfig(t, "127.0.0.1:1"))
			d, permitted := watchOf(s)
			for look := 1; look <= 10; look++ {
				d.unanswered(c.err)
				if ended := len(permitted.ids) > 0; ended != (c.ends > 0 && look >= c.ends) {
					t.Fatalf("after look %d the permission has ended: %v", look, ended)
				}
			}
			if n := strings.Count(log.String(), "has expired"); n != 0 && c.ends != mostUnasked ||
				n != 1 && c.ends == mostUnasked {
				t.Errorf("the end is told %d times:\n%s", n, log)
			}
			for _, level := range permitted.ids {
				if level != answerNothing {
					t.Errorf("the permission is %v", level)
				}
			}
		})
	}
}

func TestASilentUpstreamBetweenTwoRefusalsDoesNotMakeThemForgotten(t *testing.T) {
	s, log := settingsOf(t, someConfig(t, "127.0.0.1:1"))
	d, permitted := watchOf(s)
	full, silent := login(&pgconn.PgError{Code: "53300"}), login(context.DeadlineExceeded)
	for _, err := range []error{full, silent, full, silent, full} {
		if len(permitted.ids) > 0 {
			t.Fatal("it has ended too soon")
		}
		d.unanswered(err)
	}
	if len(permitted.ids) != 1 {
		t.Error("three refusals have not ended it")
	}
	for _, err := range []error{login(&pgconn.PgError{Code: "08P01"}), silent, full} {
		d.unanswered(err)
	}
	if n := strings.Count(log.String(), "has expired"); n != 1 ||
		!strings.HasSuffix(strings.TrimSpace(log.String()), "53300)\"") {
		t.Errorf("the end is told %d times, and something after it:\n%s", n, log)
	}
}

// The whole watch, with short pauses, at a server without a free connection and at no server.
func TestAWatchGoesOnAndEndsWithItsContext(t *testing.T) {
	full := &pgproto3.ErrorResponse{Severity: "FATAL", Code: "53300", Message: "sorry, too many clients already"}
	for name, c := range map[string]struct {
		address string
		ends    bool
	}{
		"full":   {scripted.Refusing(t, full), true},
		"closed": {"127.0.0.1:1", false},
	} {
		t.Run(name, func(t *testing.T) {
			config := someConfig(t, c.address)
			looks, dial := make(chan struct{}), config.DialFunc
			config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
				select {
				case looks <- struct{}{}:
				case <-ctx.Done():
				}
				return dial(ctx, network, address)
			}
			s, log := settingsOf(t, config)
			s.Look, s.Timeout, s.Rules.Remind = time.Millisecond, time.Minute, time.Hour
			d, permitted := watchOf(s)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error)
			go func() { ended <- d.watch(ctx) }()
			for range mostUnasked + 2 { // when the last look begins, the fourth is judged
				<-looks
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if (len(permitted.ids) > 0) != c.ends {
				t.Errorf("the permission was ended %d times:\n%s", len(permitted.ids), log)
			}
		})
	}
}

func TestWhatIsWrongIsLoggedOnceAndAgainEachMinuteWithHowLongItHasLasted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := settingsOf(t, someConfig(t, "127.0.0.1:1"))
		d, _ := watchOf(s)
		began := time.Now()
		lines := func(want int, text string) {
			t.Helper()
			if n := strings.Count(log.String(), "\n"); n != want || !strings.Contains(log.String(), text) {
				t.Errorf("after %v there are %d lines, expected %d with %q:\n%s", time.Since(began), n, want, text, log)
			}
		}
		wrong := &connect.LoginError{
			Cause: &pgconn.PgError{Severity: "FATAL", Code: "28P01", Message: "password authentication failed"},
		}
		for range 60 {
			d.unanswered(wrong)
			time.Sleep(time.Second)
		}
		lines(1, "password authentication failed")
		if strings.Contains(log.String(), "trouble_lasted=") {
			t.Errorf("the first line is a reminder: %s", log)
		}
		d.unanswered(wrong)
		lines(2, "trouble_lasted=1m0s")
		d.unanswered(login(&pgconn.PgError{Code: "3D000", Message: "no such database"}))
		lines(3, "no such database")
		d.found.report(finding{about: aboutIDs, what: "all is well"})
		for range 100 {
			d.found.report(finding{about: aboutIDs, what: "all is well"})
			time.Sleep(time.Minute)
		}
		lines(4, "all is well") // a good state needs no reminder
	})
}

func TestADatabaseThatWasListedAgainKeepsItsFunctionsWorkerWhenItsOldWatchEnds(t *testing.T) {
	all := listOf(t, "app")
	before := all.listed[0]
	w := newSpace(namespace.Namespace{}, nil)
	fits := func(l *Listing) error { return w.fits(l, namespace.Namespace{FunctionWorker: 3}) }
	if err := fits(before); err != nil {
		t.Fatal(err)
	}
	relist(t, all)
	relist(t, all, "app", "restored")
	if err := fits(all.listed[0]); err != nil {
		t.Errorf("listed again it does not fit beside itself: %v", err)
	}
	w.forget(before) // its watch was in the middle of a look
	if err := fits(all.listed[1]); err == nil || !strings.Contains(err.Error(), `"app" and "restored"`) {
		t.Errorf("a database with the same function's worker is told %v", err)
	}
	w.forget(all.listed[0])
	if err := fits(all.listed[1]); err != nil {
		t.Errorf("the other one is watched no more, but %v", err)
	}
}

func TestAFunctionConflictsIfItsWorkerIsTheProxysOrNotForFunctions(t *testing.T) {
	home := namespace.Namespace{ID: "a", Kinds: namespace.Kinds{Functions: namespace.Ranges{{Lowest: 0, Highest: 15}}}}
	w := newSpace(home, func() (int, bool) { return 7, true })
	all := listOf(t, "app")
	relist(t, all, "app", "other")
	app, other := all.listed[0], all.listed[1]
	for worker, says := range map[int]string{3: "", 7: "which this proxy holds", 16: "keeps the workers 0 to 15"} {
		ns := namespace.Namespace{ID: "a", Database: "app", FunctionWorker: worker}
		if why := w.conflict(app, ns); (why == "") != (says == "") || !strings.Contains(why, says) {
			t.Errorf("worker %d: %q; expected %q", worker, why, says)
		}
		ns.ID = "b" // its IDs are of another space, and not answered anyway
		if why := w.conflict(app, ns); why != "" {
			t.Errorf("worker %d of another ID space: %q", worker, why)
		}
	}
	// Two listed databases: at each look, and until one has another worker.
	has := func(l *Listing, worker int) string {
		return w.conflict(l, namespace.Namespace{ID: "a", Database: l.name, FunctionWorker: worker})
	}
	_ = has(app, 3)
	ns := namespace.Namespace{ID: "a", Database: "other", FunctionWorker: 3}
	for range 2 {
		if why := w.conflict(other, ns); !strings.Contains(why, `"app" and "other" have the same worker 3`) {
			t.Errorf("with the worker of another one: %q", why)
		}
	}
	if why := has(app, 4); why != "" {
		t.Errorf("with another worker: %q", why)
	}
	if why := has(other, 3); why != "" {
		t.Errorf("the other one has left the worker, but %q", why)
	}
	// They swap their names: each has left its worker by its next look but one.
	_, _ = has(app, 3), has(other, 4)
	if first, second := has(app, 3), has(other, 4); first != "" || second != "" {
		t.Errorf("after a swap of names: %q, %q", first, second)
	}
}
