//go:build unix

package node_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgflurry/internal/report"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// until waits for a state that is as expected, and returns it.
func (r *running) until(t testing.TB, what string, expected func(report.State) bool) report.State {
	t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	limit := time.After(server.Patience)
	for {
		if s := r.State(); expected(s) {
			return s
		}
		select {
		case <-look.C:
		case <-limit:
			t.Fatalf("it never reported %s:\n%+v", what, r.State())
		}
	}
}

func TestANodeWithAWorkerReportsItsLeaseAndItsClock(t *testing.T) {
	t.Parallel()
	r := start(t, settings(t, server.Migrated(t), "holder"))
	r.answers(t)
	_, worker := draw(t, r.connect(t))
	s := r.State()
	l := s.Lease
	if !l.Held || !l.Granted || int64(l.Worker) != worker || l.Reason != "" || l.Cause != "" || !l.Opens.IsZero() {
		t.Errorf("of worker %d it reports %+v", worker, l)
	}
	if l.Reserve <= 0 || l.Reserve > l.Window || l.Window != 30*time.Second || l.Acquisitions["ok"] != 1 {
		t.Errorf("the lease is %+v", l)
	}
	if l.Renewed.After(s.At) || l.Renewed.Before(s.Started) {
		t.Errorf("it was renewed at %v; the process began at %v, and now is %v", l.Renewed, s.Started, s.At)
	}
	// the server is on this machine: the two clocks differ by less than the round trip
	if c := s.Clock; !c.Known || c.Offset.Abs() > c.RoundTrip+time.Millisecond || c.RoundTrip <= 0 {
		t.Errorf("the clock is %+v", c)
	}
	renewed := r.until(t, "a renewal", func(s report.State) bool { return s.Lease.Renewals["ok"] > 0 })
	if renewed.Lease.RenewalDurations.Count() == 0 || renewed.Lease.Renewed.Before(l.Renewed) {
		t.Errorf("after a renewal it reports %+v", renewed.Lease)
	}
}

func TestALeaseDatabaseThatDoesNotAnswerIsReportedWhileIDsGoOn(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	s := settings(t, server.Migrated(t), "cut off")
	direct := s.LeaseDatabase
	s.LeaseDatabase = migrated(t, cluster.URL("postgres"))
	s.Databases = []string{server.Name(t, s.LeaseDatabase)}
	r := start(t, s)
	r.direct = direct
	r.until(t, "a worker", func(s report.State) bool { return s.Lease.Held })
	thaw := server.Freeze(t, cluster)
	l := r.until(t, "a renewal that was not answered", func(s report.State) bool { return s.Lease.Reason != "" }).Lease
	if l.Reason != "unanswered" || !l.Held || l.Reserve == 0 || l.Renewals["unknown"] == 0 || l.Cause == "" {
		t.Errorf("it reports %+v", l)
	}
	thaw()
	r.until(t, "that all is well again", func(s report.State) bool { return s.Lease.Reason == "" && s.Lease.Held })
}

// migrated installs the tables and functions in the database at a URL.
func migrated(t *testing.T, url string) string {
	t.Helper()
	if err := migrations.Up(t.Context(), url, migrations.Settings{}); err != nil {
		t.Fatal(err)
	}
	return url
}

func TestAClosedGateIsReportedWithTheTimeWhenItOpens(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	conn := server.Connect(t, direct)
	server.Do(t, conn, "UPDATE pgflurry.namespace SET acquire_after = pgflurry.ticks(clock_timestamp()) + 600000")
	opens := server.Value[time.Time](t, conn, "SELECT clock_timestamp() + interval '10 min'")
	settings := settings(t, direct, "before the gate")
	settings.Survey = time.Second
	r := start(t, settings)
	s := r.until(t, "a gate", func(s report.State) bool { return s.Lease.Reason == "gate" && !s.Workers.Read.IsZero() })
	if s.Lease.Held || s.Lease.Granted || s.Lease.Reserve != 0 || s.Lease.Acquisitions["refused"] == 0 {
		t.Errorf("the lease is %+v", s.Lease)
	}
	if early := opens.Sub(s.Lease.Opens); early.Abs() > 10*time.Second {
		t.Errorf("the gate opens at %v; it reports %v", opens, s.Lease.Opens)
	}
	if early := opens.Sub(s.Workers.Opens); early.Abs() > 10*time.Second {
		t.Errorf("the gate opens at %v; the table has %v", opens, s.Workers.Opens)
	}
}

func TestAGrantThatOutlivesItsLeaseIsReportedAndSoIsThatNoWorkerIsFree(t *testing.T) {
	t.Parallel()
	direct := server.MigratedWith(t, migrations.Settings{Layout: "41/0/4/12", DatabaseWorkers: 4})
	s := settings(t, direct, "the last")
	s.Survey = time.Second
	r := start(t, s)
	r.answers(t)
	worker := r.State().Lease.Worker
	server.Exec(t, direct, "UPDATE pgflurry.worker SET retired_at = clock_timestamp() WHERE kind = 'proxy'")
	state := r.until(t, "that no worker is free", func(s report.State) bool {
		return s.Lease.Reason == "none_free" && s.Workers.Counts["retired"] == 12
	})
	if l := state.Lease; l.Held || !l.Granted || l.Worker != worker || l.Renewals["lost"] != 1 || l.Hint == "" {
		t.Errorf("the lease is %+v", l)
	}
	if c := state.Workers.Counts; c["held"]+c["free"]+c["resting"] != 0 || len(state.Workers.Rows) != 13 {
		t.Errorf("the workers are %v", state.Workers)
	}
	// the first window is five seconds long, and the grant holds until its end
	if l := r.State().Lease; l.Reserve > 0 {
		id, _ := draw(t, r.connect(t))
		drawn, err := r.Decode(strconv.FormatInt(id, 10))
		if err != nil || drawn.Worker != worker && r.State().Lease.Reserve > 0 {
			t.Errorf("%v of worker %d are left, but an ID is %+v: %v", l.Reserve, worker, drawn, err)
		}
	}
	r.until(t, "the end of the grant", func(s report.State) bool { return s.Lease.Reserve == 0 })
}

func TestAWorkerThatWasRetiredIsReportedAsLostAndAnotherIsTaken(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	r := start(t, settings(t, direct, "mover"))
	r.answers(t)
	first := r.State().Lease.Worker
	server.Do(t, server.Connect(t, direct),
		"UPDATE pgflurry.worker SET retired_at = clock_timestamp() WHERE worker = $1", first)
	another := func(s report.State) bool { return s.Lease.Held && s.Lease.Worker != first }
	l := r.until(t, "another worker", another).Lease
	if l.Renewals["lost"] != 1 || l.Acquisitions["ok"] != 2 || l.Reason != "" ||
		!strings.HasSuffix(l.Lost, "it was retired") || l.LostAt.IsZero() || l.LostAt.After(r.State().At) {
		t.Errorf("the lease is %+v", l)
	}
}

func TestACopyIsReportedWithWhatToRun(t *testing.T) {
	t.Parallel()
	original := server.Migrated(t)
	s := settings(t, server.TemplateCopy(t, original, server.Name(t, original)+"_copy"), "on a copy")
	r := start(t, s)
	const first = "the namespace was not read yet"
	l := r.until(t, "a copy", func(s report.State) bool { return s.Lease.Cause != first }).Lease
	if l.Reason != "copy" || !strings.Contains(l.Cause, "is a copy") || !strings.Contains(l.Hint, "migrate up") {
		t.Errorf("it reports %+v", l)
	}
}

func TestALeaseDatabaseWithoutANamespaceIsReportedWithWhatToRun(t *testing.T) {
	t.Parallel()
	s := settings(t, server.Migrated(t), "too early")
	s.LeaseDatabase = server.Database(t)
	l := start(t, s).until(t, "why", func(s report.State) bool { return s.Lease.Reason != "" }).Lease
	if l.Reason != "no_namespace" || !strings.Contains(l.Cause, "has no pgflurry namespace") ||
		!strings.Contains(l.Hint, "migrate up") {
		t.Errorf("it reports %+v", l)
	}
}

func TestARoleThatMayNotReadTheNamespaceIsReportedWithWhatToGrant(t *testing.T) {
	t.Parallel()
	s := settings(t, server.Migrated(t), "stranger")
	s.LeaseDatabase = server.Role(t, s.LeaseDatabase, "lease_stranger")
	l := start(t, s).until(t, "why", func(s report.State) bool { return s.Lease.Reason != "" }).Lease
	if l.Reason != "unanswered" || !strings.Contains(l.Hint, "CALL pgflurry.grant_lease('lease_stranger');") {
		t.Errorf("it reports %+v", l)
	}
}

func TestALeaseDatabaseThatIsNotThereIsReportedInOneLineWithoutThePassword(t *testing.T) {
	t.Parallel()
	s := settings(t, server.Migrated(t), "nowhere")
	s.LeaseDatabase = "postgres://app:s3cret@127.0.0.1:1/shop"
	r := start(t, s)
	l := r.until(t, "why", func(s report.State) bool { return s.Lease.Reason == "unanswered" }).Lease
	if strings.Contains(l.Cause+l.Hint, "s3cret") || strings.Contains(l.Cause, "\n") ||
		!strings.Contains(l.Cause, `cannot connect to 127.0.0.1:1/shop as "app": `) || l.Hint == "" {
		t.Errorf("it reports %+v", l)
	}
}

func TestInvariant7StateWaitsForNobody(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	direct := migrated(t, cluster.URL("postgres"))
	s := settings(t, direct, "patient")
	s.Survey = time.Second
	r := start(t, s)
	r.answers(t)
	id, worker := draw(t, r.connect(t))
	r.until(t, "the worker table", func(s report.State) bool { return !s.Workers.Read.IsZero() })
	thaw := server.Freeze(t, cluster) // lease database, upstream and every listed database hang
	ctx, hangUp := context.WithCancel(t.Context())
	asked := make(chan error)
	for range 2 {
		go func() {
			_, err := r.History(ctx, int(worker))
			asked <- err
		}()
	}
	if err := <-asked; err == nil || !strings.Contains(err.Error(), "another question") {
		t.Errorf("of two questions for a history one has ended with %v; expected that it is not put", err)
	}
	for calls := range 100 {
		r.State()
		select {
		case err := <-asked:
			t.Fatalf("State was asked %d times until a question to the database had ended with %v", calls+1, err)
		default:
		}
	}
	hangUp()
	if err := <-asked; err == nil {
		t.Error("a database that does not answer has answered a history")
	}
	state := r.until(t, "that renewals fail", func(s report.State) bool { return s.Lease.Renewals["unknown"] > 0 })
	if len(state.Workers.Rows) == 0 || state.Lease.Worker != int(worker) {
		t.Errorf("it has forgotten what it knew: %+v", state)
	}
	if d, err := r.Decode(strconv.FormatInt(id, 10)); err != nil || d.Worker != int(worker) {
		t.Errorf("ID %d is decoded as %+v: %v", id, d, err)
	}
	thaw()
}
