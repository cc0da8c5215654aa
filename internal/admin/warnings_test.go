package admin

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgflurry/internal/report"
)

// faults has, for the kind of each warning, a change that makes a healthy state cause it.
func faults() map[string]func(*report.State) {
	return map[string]func(*report.State){
		"reserve": func(s *report.State) {
			s.Lease.Reserve, s.Lease.Renewed, s.Lease.Reason = 19*time.Second, now.Add(-41*time.Second), "unanswered"
			s.Lease.Cause = "dial tcp 10.0.4.1:5432: connect: connection refused"
		},
		"late": func(s *report.State) {
			s.Lease.Window, s.Lease.Reserve, s.Lease.Reason = time.Hour, 55*time.Minute, "unanswered"
			s.Lease.Renewed = now.Add(-5 * time.Minute)
		},
		"clock_slowed":   func(s *report.State) { s.Clock.Slowed, s.Clock.Ahead = true, 1500*time.Millisecond },
		"clock_ahead":    func(s *report.State) { s.Clock.Slowed, s.Clock.Ahead = true, 3*time.Hour },
		"function_ahead": func(s *report.State) { s.Workers.FunctionAhead = 40 * time.Second },
		"gate":           func(s *report.State) { s.Workers.Opens = now.Add(80 * time.Second) },
		"none_free":      func(s *report.State) { s.Workers.Counts["free"] = 0 },
		"copy": func(s *report.State) {
			s.Lease = report.Lease{Reason: "copy", Cause: "the database is a copy", Window: time.Minute}
		},
		"no_lease":   func(s *report.State) { s.Lease = report.Lease{Reason: "unanswered", Window: time.Minute} },
		"layout_end": func(s *report.State) { s.Namespace.End = now.AddDate(0, 11, 0) },
		"certificate": func(s *report.State) {
			s.Certificates = []report.Certificate{{File: "/etc/pgflurry/it's.crt", Until: now.AddDate(0, 0, 13)}}
		},
		"database": func(s *report.State) {
			s.Databases[0].IDs, s.Databases[0].IDsWhy = "none", "the function next_snowflake() was changed"
			s.Databases[0].IDsHint = "Run \"pgflurry migrate up\" again."
		},
		"no_primary": func(s *report.State) {
			s.Upstreams.Hosts = []report.UpstreamHost{{Name: "db-1:5432", Says: "standby"}}
		},
		"upstream": away,
		"lost": func(s *report.State) {
			s.Lease.Lost, s.Lease.LostAt = "worker 12 is lost: it was retired", now.Add(-time.Minute)
		},
		"upstream_host": func(s *report.State) {
			s.Upstreams.Since = now
			s.Upstreams.Hosts = []report.UpstreamHost{
				{Name: "db-2:5432", Says: "no answer", Trouble: "it does not answer"},
			}
		},
		"new_server": func(s *report.State) {
			s.Workers.NewServer = `database "app" is on a server that is not known`
			s.Databases[0].NewServer = s.Workers.NewServer
		},
		"sessions": func(s *report.State) { s.Sessions.Full = true },
		"reload":   func(s *report.State) { s.NotReloaded = "--max-logins is -1; expected 0 or more" },
		"accounts": func(s *report.State) {
			s.IDDatabase = idDatabase()
			s.IDDatabase.Accounts.Read = now.Add(-3 * time.Minute)
			s.IDDatabase.Accounts.Problem = "reading who may log in: the connection ended: EOF"
		},
		"id_sessions": func(s *report.State) { s.IDDatabase = idDatabase(); s.IDDatabase.Full = true },
		"id_database": func(s *report.State) { s.IDDatabase = idDatabase(); s.IDDatabase.Hides = "shop" },
	}
}

// away makes each look at PostgreSQL fail.
func away(s *report.State) {
	for i := range s.Databases {
		s.Databases[i].Away = "dial tcp 10.0.4.1:5432: connect: connection refused"
	}
}

func kindsOf(warnings []Warning) (all []string) {
	for _, w := range warnings {
		all = append(all, w.Kind)
	}
	return all
}

func TestEachFaultHasOneWarningWithWhatToDoAndACommand(t *testing.T) {
	for kind, fault := range faults() {
		s := healthy()
		fault(&s)
		warnings := Warnings(s)
		if !slices.Equal(kindsOf(warnings), []string{kind}) {
			t.Errorf("%s has the warnings %q", kind, kindsOf(warnings))
			continue
		}
		w := warnings[0]
		if len(w.Commands) == 0 || slices.Contains(w.Commands, "") || !strings.HasSuffix(w.What, ".") || w.Do == "" {
			t.Errorf("%s is shown as %+v", kind, w)
		}
	}
}

func TestANodeInGoodHealthHasNoWarning(t *testing.T) {
	for name, change := range map[string]func(*report.State){
		"healthy": func(*report.State) {},
		"the first windows after a start are short": func(s *report.State) {
			s.Lease.Reserve, s.Lease.Renewed = 4*time.Second, now.Add(-time.Second)
		},
		"a renewal that comes again and again, of a long window": func(s *report.State) {
			s.Lease.Window, s.Lease.Reserve, s.Lease.Renewed = time.Hour, 59*time.Minute, now.Add(-22*time.Second)
		},
		"a clock that a busy network has slowed for a moment": func(s *report.State) {
			s.Clock.Slowed, s.Clock.Ahead = true, 12*time.Millisecond
		},
		"the second that a function may be ahead": func(s *report.State) { s.Workers.FunctionAhead = time.Second },
		"a gate that has opened":                  func(s *report.State) { s.Workers.Opens = now.Add(-time.Second) },
		"a table that was not read yet":           func(s *report.State) { s.Workers = report.Workers{} },
		"a worker that was lost long ago": func(s *report.State) {
			s.Lease.Lost, s.Lease.LostAt = "it was retired", now.Add(-time.Hour)
		},
		"PostgreSQL is away for one database of several": func(s *report.State) { s.Databases[0].Away = "EOF" },
		"the worker given back after a drain": func(s *report.State) {
			s.Draining, s.Lease.Held = true, false
		},
	} {
		s := healthy()
		change(&s)
		if got := Warnings(s); len(got) > 0 {
			t.Errorf("%s: it warns of %+v", name, got)
		}
	}
}

func TestTheWorstWarningsComeFirst(t *testing.T) {
	s := healthy()
	for _, kind := range []string{"certificate", "layout_end", "function_ahead", "no_lease"} {
		faults()[kind](&s)
	}
	got := kindsOf(Warnings(s))
	if len(got) != 4 || got[0] != "no_lease" {
		t.Errorf("the order is %q", got)
	}
}

func TestAReasonForNoLeaseIsShownOnce(t *testing.T) {
	for reason, kind := range map[string]string{
		"gate": "gate", "none_free": "none_free", "copy": "copy", "no_namespace": "no_lease", "unanswered": "no_lease",
		"lost": "no_lease", "": "no_lease",
	} {
		s := healthy()
		s.Lease = report.Lease{Reason: reason, Window: time.Minute}
		got := Warnings(s)
		if !slices.Equal(kindsOf(got), []string{kind}) || !got[0].Severe {
			t.Errorf("reason %q has the warnings %+v", reason, got)
		}
	}
}

func TestAFileInACommandIsOneWordOfAShell(t *testing.T) {
	for word, want := range map[string]string{
		"/etc/a.crt": "/etc/a.crt", "a b": "'a b'", "it's": `'it'\''s'`, "$(reboot)": "'$(reboot)'", "": "''",
	} {
		if got := quoted(word); got != want {
			t.Errorf("%q is written as %s, want %s", word, got, want)
		}
	}
}
