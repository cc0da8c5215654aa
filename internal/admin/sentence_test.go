package admin

import (
	"strings"
	"testing"
	"time"

	"pgflurry/internal/report"
)

func TestTheSentenceSaysEachStateOfANode(t *testing.T) {
	const (
		held = "Worker 137, renewed 4 s ago, IDs would go on for 52 s without PostgreSQL"
		none = ". No worker is leased"
	)
	for name, c := range map[string]struct {
		change func(*report.State)
		want   string
	}{
		"healthy": {
			func(*report.State) {},
			"2 of 3 databases get IDs from memory; only with the schema in reports. " + held,
		},
		"renewals fail, IDs go on": {
			func(s *report.State) {
				s.Lease.Renewed, s.Lease.Reserve = now.Add(-41*time.Second), 15*time.Second
				s.Lease.Reason = "unanswered"
			},
			"IDs from memory last until 2026-03-14T09:27:08Z, for 15 s: the lease database does not acknowledge. " +
				"Worker 137, renewed 41 s ago",
		},
		"renewals fail because PostgreSQL is away, IDs go on": {
			func(s *report.State) {
				s.Lease.Renewed, s.Lease.Reserve = now.Add(-41*time.Second), 15*time.Second
				s.Lease.Reason = "unanswered"
				away(s)
			},
			"IDs from memory last until 2026-03-14T09:27:08Z, for 15 s; PostgreSQL does not answer. " +
				"Worker 137, renewed 41 s ago",
		},
		"PostgreSQL is away, and the lease database is another one": {
			away,
			"2 of 3 databases get IDs from memory; only with the schema in reports; " +
				"PostgreSQL does not answer. " + held,
		},
		"every database is answered": {
			func(s *report.State) { s.Databases = s.Databases[:2] },
			"2 of 2 databases get IDs from memory. " + held,
		},
		"one database": {
			func(s *report.State) { s.Databases = s.Databases[:1] },
			"Database shop gets IDs from memory. " + held,
		},
		"no database is known": {
			func(s *report.State) { s.Databases = nil },
			"IDs are in memory, and no database is known yet. " + held,
		},
		"one database and the ID database": {
			func(s *report.State) { s.Databases, s.IDDatabase.Name = s.Databases[:1], "ids" },
			"Database shop and ID database ids get IDs from memory. " + held,
		},
		"the ID database alone": {
			func(s *report.State) { s.Databases, s.IDDatabase.Name = nil, "ids" },
			"ID database ids gets IDs from memory. " + held,
		},
		"the grant has ended": {
			func(s *report.State) { s.Lease.Renewed, s.Lease.Reserve = now.Add(-3*time.Minute), 0 },
			"No IDs from memory, calls go to PostgreSQL: no renewal for 3 min. Worker 137, renewed 3 min ago",
		},
		"lost, but the grant is good": {
			func(s *report.State) { s.Lease.Held, s.Lease.Reserve, s.Lease.Reason = false, 31*time.Second, "lost" },
			"IDs from memory last until 2026-03-14T09:27:24Z, for 31 s: the worker was lost" + none,
		},
		"no database may be answered": {
			func(s *report.State) {
				for i := range s.Databases {
					s.Databases[i].IDs = "none"
				}
			},
			"No database gets IDs from memory, calls go to PostgreSQL. " + held,
		},
		"one database of several may not be answered": {
			func(s *report.State) { s.Databases[0].IDs = "none" },
			"1 of 3 databases gets IDs from memory; only with the schema in reports; none in shop. " + held,
		},
		"two of several may not be answered": {
			func(s *report.State) { s.Databases[0].IDs, s.Databases[2].IDs = "none", "none" },
			"1 of 3 databases gets IDs from memory; none in 2 others. " + held,
		},
		"no database but the ID database": {
			func(s *report.State) {
				s.Databases, s.IDDatabase.Name = []report.Database{{Name: "shop", IDs: "none"}}, "ids"
			},
			"No database but ids gets IDs from memory, calls go to PostgreSQL. " + held,
		},
		"an ID database without IDs": {
			func(s *report.State) { s.Lease, s.IDDatabase.Name = report.Lease{Reason: "lost"}, "ids" },
			"No IDs from memory, calls go to PostgreSQL, and the ID database has no IDs: the worker was lost" + none,
		},
		"an ID database, and the grant has ended": {
			func(s *report.State) {
				s.Lease.Renewed, s.Lease.Reserve, s.IDDatabase.Name = now.Add(-3*time.Minute), 0, "ids"
			},
			"No IDs from memory, calls go to PostgreSQL, and the ID database has no IDs: no renewal for 3 min. " +
				"Worker 137, renewed 3 min ago",
		},
		"no IDs, and PostgreSQL is away": {
			func(s *report.State) { s.Lease = report.Lease{Reason: "unanswered"}; away(s) },
			"No IDs from memory, calls go to PostgreSQL, which does not answer: " +
				"the lease database does not acknowledge" + none,
		},
		"no IDs, and PostgreSQL is away for one database of several": {
			func(s *report.State) { s.Lease, s.Databases[1].Away = report.Lease{Reason: "unanswered"}, "EOF" },
			"No IDs from memory, calls go to PostgreSQL: the lease database does not acknowledge" + none,
		},
		"no namespace yet": {
			func(s *report.State) { s.Lease, s.Namespace = report.Lease{}, report.Namespace{} },
			"No IDs from memory, calls go to PostgreSQL: the namespace was not read yet" + none,
		},
		"no namespace in the database": {
			func(s *report.State) { s.Lease, s.Namespace = report.Lease{Reason: "no_namespace"}, report.Namespace{} },
			"No IDs from memory, calls go to PostgreSQL: the lease database has no namespace" + none,
		},
		"gate": {
			func(s *report.State) { s.Lease = report.Lease{Reason: "gate", Opens: now.Add(80 * time.Second)} },
			"No IDs from memory, calls go to PostgreSQL: " +
				"the gate is closed until 2026-03-14T09:28:13Z, for 80 s" + none,
		},
		"none free": {
			func(s *report.State) { s.Lease = report.Lease{Reason: "none_free", Opens: now.Add(80 * time.Second)} },
			"No IDs from memory, calls go to PostgreSQL: no worker is free" + none,
		},
		"copy": {
			func(s *report.State) { s.Lease = report.Lease{Reason: "copy"} },
			"No IDs from memory, calls go to PostgreSQL: the lease database is a copy, or was restored" + none,
		},
		"a reason of which only the words are known": {
			func(s *report.State) {
				s.Lease = report.Lease{Cause: "dial tcp: connection\x1b[31m refused\nsecond line"}
			},
			"No IDs from memory, calls go to PostgreSQL: dial tcp: connection [31m refused" + none,
		},
		"draining": {
			func(s *report.State) {
				s.Draining, s.Listening, s.Sessions.Open = true, false, map[string]int{"idle": 1, "in_transaction": 2}
			},
			"Draining, 3 sessions left. 2 of 3 databases get IDs from memory; " +
				"only with the schema in reports. " + held,
		},
		"drained": {
			func(s *report.State) { s.Draining, s.Sessions.Open, s.Lease = true, nil, report.Lease{Granted: true} },
			"Draining, 0 sessions left. No IDs from memory, calls go to PostgreSQL: the worker was given back" + none,
		},
		"starting": {
			func(s *report.State) { s.Listening, s.Lease = false, report.Lease{} },
			"Clients are not accepted yet. No IDs from memory, calls go to PostgreSQL: " +
				"no worker was granted yet" + none,
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
