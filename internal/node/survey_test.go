//go:build unix

package node_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"pgflurry/internal/report"
	"pgflurry/tests/support/server"
)

// surveyed starts a node that reads the worker table with a role.
func surveyed(t *testing.T, direct, role, name string) *running {
	t.Helper()
	s := settings(t, direct, name)
	s.LeaseDatabase = server.As(t, direct, role, "")
	s.Survey = time.Second
	r := start(t, s)
	r.direct = direct
	return r
}

func TestTheSurveyCountsWorkersByStateAndKnowsItsOwnWithTheRightsOfALeaseRole(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	server.Role(t, direct, "lease_surveyor")
	server.Exec(t, direct, "CALL pgflurry.grant_lease('lease_surveyor')")
	first := surveyed(t, direct, "lease_surveyor", "first")
	first.answers(t)
	second := surveyed(t, direct, "lease_surveyor", "second")
	second.answers(t)
	w := first.until(t, "two workers that are held", func(s report.State) bool {
		return s.Workers.Counts["held"] == 2 && s.Workers.Problem == ""
	}).Workers
	states := make(map[string]string) // by node name
	for _, row := range w.Rows {
		states[row.Node] = row.State
		mine := first.State().Lease.Worker
		if row.State == "mine" && (row.Number != mine || *row.Left <= 0 || row.Acquired.IsZero()) {
			t.Errorf("its own is reported as %+v", row)
		}
	}
	if states["first"] != "mine" || states["second"] != "held" || w.Rows[functionWorker].State != "function" {
		t.Errorf("the rows are %+v", w.Rows)
	}
	all := first.State().Namespace
	if sum := w.Counts["held"] + w.Counts["free"]; sum != all.Workers-all.Functions.Size() {
		t.Errorf("%v are %d workers of %+v", w.Counts, sum, all)
	}
	tenures, err := first.History(context.Background(), second.State().Lease.Worker)
	if err != nil || len(tenures) != 1 || tenures[0].Node != "second" {
		t.Errorf("the history of the second's worker is %+v: %v", tenures, err)
	}
	if err := second.end(t); err != nil {
		t.Error(err)
	}
	// so that its worker rests for longer than a survey may take to come
	server.Exec(t, direct, "UPDATE pgflurry.worker SET reserved_until = reserved_until + 3600000 WHERE node = 'second'")
	first.until(t, "that the other's worker rests", func(s report.State) bool {
		return s.Workers.Counts["held"] == 1 && s.Workers.Counts["resting"] == 1
	})
}

func TestASurveyThatMayNotReadSaysWhatToGrantAndKeepsWhatItKnew(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	server.Role(t, direct, "lease_blinded")
	server.Exec(t, direct, "CALL pgflurry.grant_lease('lease_blinded')")
	r := surveyed(t, direct, "lease_blinded", "blinded")
	r.until(t, "its own worker", func(s report.State) bool { return s.Workers.Counts["held"] == 1 })
	server.Exec(t, direct, "REVOKE SELECT ON pgflurry.worker FROM lease_blinded")
	w := r.until(t, "a problem", func(s report.State) bool { return s.Workers.Problem != "" }).Workers
	if !strings.Contains(w.Problem, "CALL pgflurry.grant_lease('lease_blinded');") || w.Counts["held"] != 1 {
		t.Errorf("it reports %+v", w)
	}
	server.Exec(t, direct, "CALL pgflurry.grant_lease('lease_blinded')")
	r.until(t, "that all is well again", func(s report.State) bool { return s.Workers.Problem == "" })
}

func TestAFunctionThatIsAheadOfItsClockIsReportedAndANormalOneIsNot(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	s := settings(t, direct, "watcher of the function")
	s.Survey = time.Second
	r := start(t, s)
	// The first ID of a function is about a second ahead, beyond what another server may have issued. Its mark is
	// always ahead.
	server.Exec(t, direct, "SELECT public.next_snowflake()")
	server.Eventually(t, server.Connect(t, direct), "(pgflurry.snowflake_clock()).ahead_ms < 0")
	began := r.State().At
	w := r.until(t, "a reading", func(s report.State) bool { return s.Workers.Read.After(began) }).Workers
	if w.FunctionAhead != 0 {
		t.Errorf("a function whose last ID is of the past is %v ahead", w.FunctionAhead)
	}
	server.FunctionClock(t, direct, "'1 hour'")
	server.Exec(t, direct, "SELECT public.next_snowflake()")
	w = r.until(t, "that it is ahead", func(s report.State) bool { return s.Workers.FunctionAhead != 0 }).Workers
	if w.FunctionAhead < 59*time.Minute || w.FunctionAhead > time.Hour {
		t.Errorf("a function whose last ID is an hour ahead is reported as %v ahead", w.FunctionAhead)
	}
}
