package admin

import (
	"strings"
	"testing"
	"time"

	"pgflurry/internal/report"
)

func TestTheSentenceSaysEachStateOfANode(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*report.State)
		want   string
	}{
		"healthy": {
			func(*report.State) {},
			"Worker 137, renewed 4 s ago, IDs for 52 s without PostgreSQL",
		},
		"renewals fail, IDs go on": {
			func(s *report.State) {
				s.Lease.Renewed, s.Lease.Reserve = now.Add(-41*time.Second), 15*time.Second
				s.Lease.Reason = "unanswered"
			},
			"Worker 137, renewed 41 s ago, IDs for 15 s without PostgreSQL",
		},
		"the grant has ended": {
			func(s *report.State) { s.Lease.Renewed, s.Lease.Reserve = now.Add(-3*time.Minute), 0 },
			"Worker 137, renewed 3 min ago, too long for IDs from memory: calls go to PostgreSQL",
		},
		"lost, but the grant is good": {
			func(s *report.State) { s.Lease.Held, s.Lease.Reserve, s.Lease.Reason = false, 31*time.Second, "lost" },
			"Worker 137 is no longer held, its IDs last 31 s: the worker was lost",
		},
		"no database may be answered": {
			func(s *report.State) {
				for i := range s.Databases {
					s.Databases[i].IDs = "none"
				}
			},
			"Worker 137, renewed 4 s ago, but no database gets IDs from memory: calls go to PostgreSQL",
		},
		"one database of several may not be answered": {
			func(s *report.State) { s.Databases[0].IDs = "none" },
			"Worker 137, renewed 4 s ago, IDs for 52 s without PostgreSQL",
		},
		"no database but the ID database": {
			func(s *report.State) {
				s.Databases, s.IDDatabase.Name = []report.Database{{Name: "shop", IDs: "none"}}, "ids"
			},
			"Worker 137, renewed 4 s ago, but no database but ids gets IDs from memory: calls go to PostgreSQL",
		},
		"an ID database without IDs": {
			func(s *report.State) { s.Lease, s.IDDatabase.Name = report.Lease{Reason: "lost"}, "ids" },
			"No worker, calls go to PostgreSQL, and the ID database has no IDs: the worker was lost",
		},
		"an ID database, and the grant has ended": {
			func(s *report.State) {
				s.Lease.Renewed, s.Lease.Reserve, s.IDDatabase.Name = now.Add(-3*time.Minute), 0, "ids"
			},
			"Worker 137, renewed 3 min ago, too long for IDs from memory: calls go to PostgreSQL, " +
				"and the ID database has no IDs",
		},
		"no IDs, and PostgreSQL is away": {
			func(s *report.State) { s.Lease = report.Lease{Reason: "unanswered"}; away(s) },
			"No worker, calls go to PostgreSQL, which does not answer: the lease database does not acknowledge",
		},
		"no IDs, and PostgreSQL is away for one database of several": {
			func(s *report.State) { s.Lease, s.Databases[1].Away = report.Lease{Reason: "unanswered"}, "EOF" },
			"No worker, calls go to PostgreSQL: the lease database does not acknowledge",
		},
		"no namespace yet": {
			func(s *report.State) { s.Lease, s.Namespace = report.Lease{}, report.Namespace{} },
			"No worker, calls go to PostgreSQL: the namespace was not read yet",
		},
		"no namespace in the database": {
			func(s *report.State) { s.Lease, s.Namespace = report.Lease{Reason: "no_namespace"}, report.Namespace{} },
			"No worker, calls go to PostgreSQL: the lease database has no namespace",
		},
		"gate": {
			func(s *report.State) { s.Lease = report.Lease{Reason: "gate", Opens: now.Add(80 * time.Second)} },
			"No worker, calls go to PostgreSQL: the gate is closed until 2026-03-14T09:28:13Z, for 80 s",
		},
		"none free": {
			func(s *report.State) { s.Lease = report.Lease{Reason: "none_free", Opens: now.Add(80 * time.Second)} },
			"No worker, calls go to PostgreSQL: no worker is free",
		},
		"copy": {
			func(s *report.State) { s.Lease = report.Lease{Reason: "copy"} },
			"No worker, calls go to PostgreSQL: the lease database is a copy, or was restored",
		},
		"a reason of which only the words are known": {
			func(s *report.State) {
				s.Lease = report.Lease{Cause: "dial tcp: connection\x1b[31m refused\nsecond line"}
			},
			"No worker, calls go to PostgreSQL: dial tcp: connection [31m refused",
		},
		"draining": {
			func(s *report.State) {
				s.Draining, s.Listening, s.Sessions.Open = true, false, map[string]int{"idle": 1, "in_transaction": 2}
			},
			"Draining, 3 sessions left. Worker 137, renewed 4 s ago, IDs for 52 s without PostgreSQL",
		},
		"drained": {
			func(s *report.State) { s.Draining, s.Sessions.Open, s.Lease = true, nil, report.Lease{Granted: true} },
			"Draining, 0 sessions left. No worker, calls go to PostgreSQL: it was given back",
		},
		"starting": {
			func(s *report.State) { s.Listening, s.Lease = false, report.Lease{} },
			"Clients are not accepted yet. No worker, calls go to PostgreSQL: none was granted yet",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := healthy()
			c.change(&s)
			if got := Sentence(s); got != c.want || strings.ContainsAny(got, "\n\x1b") {
				t.Errorf("the sentence is\n%q, want\n%q", got, c.want)
			}
		})
	}
}

func TestDurationsAreShownInOneUnitAndNeverTooLong(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 999 * time.Millisecond: "0 s", 4 * time.Second: "4 s", 119 * time.Second: "119 s",
		2 * time.Minute: "2 min", 3*time.Minute + 59*time.Second: "3 min", 119 * time.Minute: "119 min",
		2 * time.Hour: "2 h", 47 * time.Hour: "47 h", 48 * time.Hour: "2 days", 800 * 24 * time.Hour: "2 years",
	} {
		if got := lasting(d); got != want {
			t.Errorf("%v is shown as %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		640 * time.Microsecond: "0.6 ms", -3 * time.Millisecond: "−3.0 ms", 15 * time.Millisecond: "15 ms",
		-90 * time.Second: "−90 s",
	} {
		if got := fine(d); got != want {
			t.Errorf("%v is shown as %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "−1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is shown as %q, want %q", n, got, want)
		}
	}
}
