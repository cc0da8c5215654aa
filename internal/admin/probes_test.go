package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgflurry/internal/report"
)

var found = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// wholesome is the state of a node that gives IDs from memory.
func wholesome() report.State {
	return report.State{
		Listening: true,
		Sessions:  report.Sessions{Limit: 100},
		Lease:     report.Lease{Held: true, Granted: true, Worker: 137, Reserve: time.Minute, Window: time.Minute},
		Databases: []report.Database{{Name: "app", IDs: "all", Found: found}, {Name: "reports", IDs: "all"}},
		At:        found.Add(time.Second),

		IDDatabase: report.IDDatabase{Name: "pgflurry"},
	}
}

func TestEachProbeSaysWhyNot(t *testing.T) {
	for name, c := range map[string]struct {
		change     func(*report.State)
		ready, ids string // the verdicts; empty: OK
		idDatabase string
	}{
		"all is well": {func(*report.State) {}, "", "", ""},
		"it does not listen": {
			func(s *report.State) { s.Listening = false },
			"not listening yet", "not listening yet", "not listening yet",
		},
		"PostgreSQL was not asked yet": {
			func(s *report.State) { s.Databases[0].Found = time.Time{} },
			"not reached yet: no look has ended", "not reached yet", "",
		},
		"the lease database does not say which ID space this is": {
			func(s *report.State) {
				s.Databases[0].Found = time.Time{}
				s.Lease = report.Lease{Cause: "lookup db.example: no such host"}
			},
			"looked at first: lookup db.example", "looked at first: lookup db.example", "no IDs: lookup db.example",
		},
		"PostgreSQL was never reached": {
			func(s *report.State) { s.Databases[0].Found = time.Time{}; away(s) },
			"not reached yet: dial tcp", "not reached yet: dial tcp", "",
		},
		"PostgreSQL restarts": {
			func(s *report.State) { s.At = found.Add(awayPatience); away(s) }, "", "", "",
		},
		"PostgreSQL is away for longer": {
			func(s *report.State) { s.At = found.Add(time.Minute); away(s) },
			"last reached 60 s ago: dial tcp", "last reached 60 s ago: dial tcp", "",
		},
		"one of two databases is away": {
			func(s *report.State) { s.At = found.Add(silentPatience); s.Databases[1].Away = "refused" }, "", "", "",
		},
		"PostgreSQL takes connections and says nothing": {
			func(s *report.State) { s.At = found.Add(time.Minute) },
			"has answered nothing for 60 s", "has answered nothing for 60 s", "",
		},
		"no ID database": {
			func(s *report.State) { s.IDDatabase.Name = "" }, "", "", "--id-database names it",
		},
		"the ID database is full": {
			func(s *report.State) { s.IDDatabase.Full, s.IDDatabase.Limit = true, 7 }, "", "", "the limit is 7",
		},
		"it drains": {
			func(s *report.State) { s.Draining, s.Listening = true, false },
			"draining", "draining", "draining",
		},
		"it is full": {
			func(s *report.State) { s.Sessions.Full = true },
			"the limit is 100", "the limit is 100", "the limit is 100",
		},
		"no worker yet": {
			func(s *report.State) { s.Lease = report.Lease{} },
			"", "no worker is leased yet", "no worker is leased yet",
		},
		"no worker, and why": {
			func(s *report.State) { s.Lease = report.Lease{Cause: "all 1023 workers are held"} },
			"", "all 1023 workers are held", "all 1023 workers are held",
		},
		"the grant has ended": {
			func(s *report.State) { s.Lease.Reserve = 0 },
			"", "the lease of worker 137 has ended", "the lease of worker 137 has ended",
		},
		"a lost lease whose grant goes on": {func(s *report.State) { s.Lease.Held = false }, "", "", ""},
		"a database is not permitted": {
			func(s *report.State) {
				s.Databases[1] = report.Database{
					Name: "reports", Found: found, IDs: "none", IDsWhy: "EXECUTE was revoked",
				}
			},
			"", `database "reports" gets no IDs from memory: EXECUTE was revoked`, "",
		},
		"a database answers qualified calls only": {
			func(s *report.State) {
				s.Databases[0] = report.Database{
					Name: "app", Found: found, IDs: "qualified", IDsWhy: "another function",
				}
			},
			"", `database "app" gets IDs from memory only for calls with their schema: another function`, "",
		},
		"a database was not judged": {
			func(s *report.State) { s.Databases[0] = report.Database{Name: "app", Found: found, IDs: "none"} },
			"", "it was not judged yet", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			node := &fakeNode{state: wholesome()}
			c.change(&node.state)
			address, _ := serve(t, New(Settings{Node: node}))
			for path, want := range map[string]string{
				"/livez": "", "/readyz": c.ready, "/readyz/ids": c.ids, "/readyz/id-database": c.idDatabase,
			} {
				status, header, body := ask(t, "GET", "http://"+address+path)
				var v Verdict
				if err := json.Unmarshal([]byte(body), &v); err != nil {
					t.Fatalf("%s: %q: %v", path, body, err)
				}
				if v.OK != (want == "") || !strings.Contains(v.Why, want) || (v.Why == "") != v.OK {
					t.Errorf("%s: %s, expected %q", path, body, want)
				}
				if v.OK != (status == http.StatusOK) || !v.OK != (status == http.StatusServiceUnavailable) {
					t.Errorf("%s: status %d with %s", path, status, body)
				}
				if header.Get("Content-Type") != "application/json" || header.Get("Cache-Control") != "no-store" {
					t.Errorf("%s: header %v", path, header)
				}
			}
		})
	}
}

func TestAHeadOfAProbeHasItsStatus(t *testing.T) {
	node := &fakeNode{state: wholesome()}
	node.state.Draining = true
	address, _ := serve(t, New(Settings{Node: node}))
	if status, _, body := ask(t, "HEAD", "http://"+address+"/readyz"); status != 503 || body != "" {
		t.Errorf("status %d, body %q", status, body)
	}
}

func TestInvariant2NoProbeAsksADatabase(t *testing.T) {
	node := &fakeNode{state: wholesome(), history: func(context.Context, int) ([]report.Tenure, error) {
		t.Error("a probe asked for a history")
		return nil, nil
	}}
	address, _ := serve(t, New(Settings{Node: node}))
	for _, path := range []string{"/livez", "/readyz", "/readyz/ids"} {
		if status, _, body := ask(t, "GET", "http://"+address+path); status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

func TestInvariant2NoProbeWaitsForOtherRequests(t *testing.T) {
	s := New(Settings{Node: &fakeNode{state: wholesome()}})
	address, _ := serve(t, s)
	turn := <-s.pace.turn // as if others had it
	answered := make(chan int)
	for _, path := range []string{"/fragment", "/metrics"} {
		go func() {
			status, _, _ := ask(t, "GET", "http://"+address+path)
			answered <- status
		}()
	}
	for _, path := range []string{"/livez", "/readyz", "/readyz/ids"} {
		if status, _, body := ask(t, "GET", "http://"+address+path); status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	select {
	case <-answered:
		t.Error("a page does not wait for its turn")
	default:
	}
	s.pace.turn <- turn
	for range 2 {
		if status := <-answered; status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
}

func TestThePageIsMadeOnceASecondForAllWhoAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := &fakeNode{state: wholesome()}
		s := New(Settings{Node: node})
		get := func(path string) {
			s.handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
		}
		for range 10 {
			for _, path := range []string{"/livez", "/fragment", "/", "/decode?id=1", "/worker/1"} {
				get(path)
			}
		}
		if n := node.asked.Load(); n != 3 {
			t.Errorf("50 requests within a second asked for %d states; expected one for each of three pages", n)
		}
		get("/readyz")
		time.Sleep(time.Second)
		get("/fragment")
		if n := node.asked.Load(); n != 5 {
			t.Errorf("%d states after a probe and another second; expected 5", n)
		}
	})
}
